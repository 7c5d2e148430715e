// What must stay secret and no identity can stand for. Each secret is there only if it is given.

param name string
param location string
param tags object
param isPublic bool
@description('Protected from being purged: whoever takes it down cannot have its name again for 90 days.')
param isProduction bool
@description('The servers\' identity, and the jobs\'.')
param principalIds array
param logsId string

@secure()
param fhirToken string

@secure()
param oidcClientSecret string

@secure()
param telemetryConnection string

@description('What the collector shows the server to read its figures; another one with each deployment.')
@secure()
param metricsToken string = newGuid()

var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6'

resource vault 'Microsoft.KeyVault/vaults@2023-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: subscription().tenantId
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    enablePurgeProtection: isProduction ? true : null
    softDeleteRetentionInDays: isProduction ? 90 : 7
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAcls: { bypass: 'AzureServices', defaultAction: isPublic ? 'Allow' : 'Deny' }
  }
}

resource fhirSecret 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = if (!empty(fhirToken)) {
  parent: vault
  name: 'fhir-token'
  properties: { value: fhirToken }
}

resource oidcSecret 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = if (!empty(oidcClientSecret)) {
  parent: vault
  name: 'oidc-client-secret'
  properties: { value: oidcClientSecret }
}

resource telemetrySecret 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = {
  parent: vault
  name: 'telemetry-connection'
  properties: { value: telemetryConnection }
}

resource metricsSecret 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = {
  parent: vault
  name: 'metrics-token'
  properties: { value: metricsToken }
}

resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-logs'
  scope: vault
  properties: {
    workspaceId: logsId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

resource mayReadSecrets 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for principalId in principalIds: {
  name: guid(vault.id, principalId, secretsUser)
  scope: vault
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}]

output id string = vault.id
output uri string = vault.properties.vaultUri
