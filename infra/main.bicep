// Rounds on Azure: everything it needs in one resource group. `azd up`, or
// `az deployment sub create --template-file infra/main.bicep --parameters infra/production.parameters.json`.

targetScope = 'subscription'

@description('Name of this installation; part of every resource\'s name.')
@minLength(2)
@maxLength(16)
param environmentName string

@description('Region of everything; must offer the models below.')
param location string

@description('dev is small and forgets nothing expensive; production is spread over zones.')
@allowed(['dev', 'production'])
param stage string = 'dev'

@description('Keep storage, models and vault off the public network.')
param privateNetwork bool = stage == 'production'

@description('Serve only inside the virtual network; browsers and Teams then come through a gateway of yours, whose address is `publicUrl`.')
param privateIngress bool = false

@description('Where users and Teams reach the server, if not at its own address.')
param publicUrl string = ''

@description('Of the virtual network; must not overlap with networks it is to reach.')
param addressPrefix string = '10.60.0.0/20'

@description('Image of the server; empty: everything but the servers, as before the first build (infra/release.sh).')
param image string = ''

param collectorImage string = 'otel/opentelemetry-collector-contrib:0.160.0'

@description('The directory whose users may call, and the audience of their tokens.')
param entraTenantId string = subscription().tenantId
param entraAudience string

@description('Application that signs users in on the page, made by scripts/register_sign_in.py; empty: none yet, and only programs with a token may call.')
param oidcClientId string = ''

@secure()
param oidcClientSecret string = ''

@description('Object ids of operators, separated by commas.')
param operators string = ''

@description('Object ids of users who may write to the bot, separated by commas; *: all of the directory. An empty list would let nobody write.')
@minLength(1)
param allowedBotUsers string

@description('FHIR R4 server; empty: the synthetic sample patients.')
param fhirBaseUrl string = ''
param fhirIdentifierSystem string = ''

@secure()
param fhirToken string = ''

param patientIdPattern string = ''
param timeZone string = 'UTC'
param emergencyNumber string
param crisisLine string = ''

@description('The team\'s model; infra/models.json lists those that can be deployed, with the day on which each retires.')
param chatModel string = 'gpt-5.4'
param chatModelVersion string = '2026-03-05'

@description('A smaller one for the reader of messages.')
param classifierModel string = 'gpt-5.4-mini'
param classifierModelVersion string = '2026-03-17'

@description('Who is told of alerts by mail; empty: nobody.')
param alertEmail string = ''

var sizes = {
  dev: { minReplicas: 1, maxReplicas: 2, redundancy: 'Standard_LRS', logDays: 30, auditDays: 1, backupDays: 7 }
  production: { minReplicas: 3, maxReplicas: 30, redundancy: 'Standard_ZRS', logDays: 90, auditDays: 3650, backupDays: 35 }
}
var size = sizes[stage]
var modelPlan = loadJsonContent('models.json')
var token = uniqueString(subscription().id, environmentName, location)
var name = 'rounds-${environmentName}'
var tags = { 'azd-env-name': environmentName, stage: stage }
var turnQueue = 'rounds-turns'
var principalIds = [identity.outputs.principalId, jobsIdentity.outputs.principalId]
var url = empty(publicUrl) ? 'https://${name}.${host.outputs.domain}' : publicUrl

resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
  name: name
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: { name: name, location: location, tags: tags }
}

// Jobs reach the backups, and neither the models nor the queue; servers do not reach the backups.
module jobsIdentity 'modules/identity.bicep' = {
  name: 'jobs-identity'
  scope: group
  params: { name: '${name}-jobs', location: location, tags: tags }
}

module network 'modules/network.bicep' = if (privateNetwork) {
  name: 'network'
  scope: group
  params: { name: name, location: location, tags: tags, addressPrefix: addressPrefix }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: 'rounds${token}'
    location: location
    tags: tags
    logsId: monitoring.outputs.logsId
    redundancy: size.redundancy
    isPublic: !privateNetwork
    principalIds: principalIds
    turnQueue: turnQueue
    auditDays: size.auditDays
    coolAfterDays: 60
  }
}

module backup 'modules/backup.bicep' = {
  name: 'backup'
  scope: group
  params: {
    name: 'backup${token}'
    location: location
    tags: tags
    logsId: monitoring.outputs.logsId
    redundancy: size.redundancy
    isPublic: !privateNetwork
    principalId: jobsIdentity.outputs.principalId
    keptDays: size.backupDays
  }
}

module models 'modules/models.bicep' = {
  name: 'models'
  scope: group
  params: {
    name: 'rounds-${token}'
    location: location
    tags: tags
    logsId: monitoring.outputs.logsId
    isPublic: !privateNetwork
    principalId: identity.outputs.principalId
    sku: modelPlan.sku
    deployments: [
      { name: chatModel, version: chatModelVersion, capacity: modelPlan.capacity[stage].chat }
      { name: classifierModel, version: classifierModelVersion, capacity: modelPlan.capacity[stage].classifier }
    ]
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    name: name
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    logDays: size.logDays
    alertEmail: alertEmail
  }
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    name: name
    location: location
    tags: tags
    figuresId: monitoring.outputs.figuresId
    peopleId: monitoring.outputs.peopleId
  }
}

module vault 'modules/vault.bicep' = {
  name: 'vault'
  scope: group
  params: {
    name: 'rounds-${token}'
    location: location
    tags: tags
    logsId: monitoring.outputs.logsId
    isPublic: !privateNetwork
    isProduction: stage == 'production'
    principalIds: principalIds
    fhirToken: fhirToken
    oidcClientSecret: oidcClientSecret
    telemetryConnection: monitoring.outputs.connection
  }
}

module registry 'modules/registry.bicep' = {
  name: 'registry'
  scope: group
  params: {
    name: 'rounds${token}'
    location: location
    tags: tags
    principalIds: principalIds
  }
}

module blobEndpoint 'modules/endpoint.bicep' = if (privateNetwork) {
  name: 'blob-endpoint'
  scope: group
  params: {
    name: '${name}-blob'
    location: location
    tags: tags
    subnetId: network!.outputs.endpointsSubnetId
    zoneId: network!.outputs.blobZoneId
    targetId: storage.outputs.id
    service: 'blob'
  }
}

module backupEndpoint 'modules/endpoint.bicep' = if (privateNetwork) {
  name: 'backup-endpoint'
  scope: group
  params: {
    name: '${name}-backup'
    location: location
    tags: tags
    subnetId: network!.outputs.endpointsSubnetId
    zoneId: network!.outputs.blobZoneId
    targetId: backup.outputs.id
    service: 'blob'
  }
}

module queueEndpoint 'modules/endpoint.bicep' = if (privateNetwork) {
  name: 'queue-endpoint'
  scope: group
  params: {
    name: '${name}-queue'
    location: location
    tags: tags
    subnetId: network!.outputs.endpointsSubnetId
    zoneId: network!.outputs.queueZoneId
    targetId: storage.outputs.id
    service: 'queue'
  }
}

module modelsEndpoint 'modules/endpoint.bicep' = if (privateNetwork) {
  name: 'models-endpoint'
  scope: group
  params: {
    name: '${name}-models'
    location: location
    tags: tags
    subnetId: network!.outputs.endpointsSubnetId
    zoneId: network!.outputs.modelsZoneId
    targetId: models.outputs.id
    service: 'account'
  }
}

module vaultEndpoint 'modules/endpoint.bicep' = if (privateNetwork) {
  name: 'vault-endpoint'
  scope: group
  params: {
    name: '${name}-vault'
    location: location
    tags: tags
    subnetId: network!.outputs.endpointsSubnetId
    zoneId: network!.outputs.vaultZoneId
    targetId: vault.outputs.id
    service: 'vault'
  }
}

module host 'modules/environment.bicep' = {
  name: 'environment'
  scope: group
  params: {
    name: name
    location: location
    tags: tags
    logsName: monitoring.outputs.logsName
    subnetId: privateNetwork ? network!.outputs.serversSubnetId : ''
    isPrivate: privateNetwork && privateIngress
    isZoneRedundant: privateNetwork && stage == 'production'
  }
}

// Secrets that were not given do not exist, and their settings stay unset.
var fhirSecrets = empty(fhirToken) ? [] : [{ name: 'fhir-token', keyVaultUrl: '${vault.outputs.uri}secrets/fhir-token' }]
var fhirSettings = empty(fhirToken) ? [] : [{ name: 'FHIR_TOKEN', secretRef: 'fhir-token' }]

var signInSecrets = empty(oidcClientSecret) ? [] : [{ name: 'oidc-client-secret', keyVaultUrl: '${vault.outputs.uri}secrets/oidc-client-secret' }]
var signInSettings = empty(oidcClientSecret) ? [] : [{ name: 'OIDC_CLIENT_SECRET', secretRef: 'oidc-client-secret' }]

// An empty value counts as unset (docs/settings.md).
var settings = concat(fhirSettings, signInSettings, [
  { name: 'HOST', value: '0.0.0.0' }
  { name: 'PORT', value: '3978' }
  { name: 'PUBLIC_BASE_URL', value: url }
  { name: 'DATA_DIR', value: '/data' }
  { name: 'LOG_FORMAT', value: 'json' }
  { name: 'AZURE_CLIENT_ID', value: identity.outputs.clientId }
  { name: 'APP_BLOB_STORAGE_ENDPOINT', value: storage.outputs.blobEndpoint }
  { name: 'TURN_QUEUE', value: turnQueue }
  { name: 'TURN_QUEUE_ENDPOINT', value: storage.outputs.queueEndpoint }
  { name: 'LLM_PROVIDER', value: 'azure' }
  { name: 'AZURE_OPENAI_ENDPOINT', value: models.outputs.endpoint }
  { name: 'AZURE_OPENAI_DEPLOYMENT_NAME', value: chatModel }
  { name: 'PATIENT_CONTEXT_DECIDER_DEPLOYMENT_NAME', value: classifierModel }
  { name: 'AUTH_MODE', value: empty(oidcClientId) ? 'entra' : 'oidc' }
  { name: 'OIDC_ISSUER', value: empty(oidcClientId) ? '' : '${environment().authentication.loginEndpoint}${entraTenantId}/v2.0' }
  { name: 'OIDC_CLIENT_ID', value: oidcClientId }
  { name: 'ENTRA_TENANT_ID', value: entraTenantId }
  { name: 'ENTRA_AUDIENCE', value: entraAudience }
  { name: 'OPERATORS', value: operators }
  { name: 'BOT_ENDPOINTS', value: 'true' }
  { name: 'MicrosoftAppType', value: 'UserAssignedMSI' }
  { name: 'MicrosoftAppId', value: identity.outputs.clientId }
  { name: 'MicrosoftAppTenantId', value: subscription().tenantId }
  { name: 'ADDITIONAL_ALLOWED_USER_IDS', value: allowedBotUsers }
  { name: 'FHIR_BASE_URL', value: fhirBaseUrl }
  { name: 'FHIR_IDENTIFIER_SYSTEM', value: fhirIdentifierSystem }
  { name: 'PATIENT_ID_PATTERN', value: patientIdPattern }
  { name: 'TIME_ZONE', value: timeZone }
  { name: 'EMERGENCY_NUMBER', value: emergencyNumber }
  { name: 'CRISIS_LINE', value: crisisLine }
  { name: 'ALLOWED_OUTBOUND_NETWORKS', value: privateNetwork ? addressPrefix : '' }
  { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://127.0.0.1:4318' }
])

module server 'modules/server.bicep' = if (!empty(image)) {
  name: 'server'
  scope: group
  params: {
    name: name
    location: location
    tags: tags
    environmentId: host.outputs.id
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    registryServer: registry.outputs.server
    image: image
    collectorImage: collectorImage
    minReplicas: size.minReplicas
    maxReplicas: size.maxReplicas
    storageName: storage.outputs.name
    turnQueue: turnQueue
    writeUrl: monitoring.outputs.writeUrl
    vaultUri: vault.outputs.uri
    settings: settings
    secrets: concat(fhirSecrets, signInSecrets)
  }
}

// A job signs in as itself.
var jobSettings = concat(filter(settings, one => one.name != 'AZURE_CLIENT_ID'), [
  { name: 'AZURE_CLIENT_ID', value: jobsIdentity.outputs.clientId }
])
var backupAddress = 'https://backup${token}.blob.${environment().suffixes.storage}/backups'
var jobs = [
  { name: 'backup', command: ['python', '-m', 'services.operations', 'backup', '--dated', backupAddress], schedule: '0 1 * * *' }
  { name: 'clean-up', command: ['python', '-m', 'services.tool_memory.cleanup'], schedule: '30 2 * * *' }
  { name: 'prune', command: ['python', '-m', 'services.scenarios', 'prune'], schedule: '15 3 * * *' }
  { name: 'audit', command: ['python', '-m', 'services.audit', 'verify'], schedule: '0 4 * * *' }
]

module scheduled 'modules/job.bicep' = [for job in jobs: if (!empty(image)) {
  name: 'job-${job.name}'
  scope: group
  params: {
    name: '${name}-${job.name}'
    location: location
    tags: tags
    environmentId: host.outputs.id
    identityId: jobsIdentity.outputs.id
    registryServer: registry.outputs.server
    image: image
    settings: jobSettings
    secrets: concat(fhirSecrets, signInSecrets)
    command: job.command
    schedule: job.schedule
  }
}]

// Names of bots are one space for all of Azure.
module bot 'modules/bot.bicep' = {
  name: 'bot'
  scope: group
  params: {
    name: '${name}-${token}'
    tags: tags
    endpoint: '${url}/api/messages'
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_CONTAINER_REGISTRY_ENDPOINT string = registry.outputs.server
output ROUNDS_URL string = url
output BOT_ID string = identity.outputs.clientId
