// The language models: one deployment for the team, a smaller one for the patient classifier.

param name string
param location string
param tags object
param isPublic bool
param principalId string
param logsId string
param sku string

@description('Each: name (also of the deployment), version, and capacity in thousands of tokens a minute.')
param deployments array

var openAiUser = '5e0bd9bd-7b93-4f28-af87-19fc36ad61bd'

resource account 'Microsoft.CognitiveServices/accounts@2024-10-01' = {
  name: name
  location: location
  tags: tags
  kind: 'OpenAI'
  sku: { name: 'S0' }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAcls: { defaultAction: isPublic ? 'Allow' : 'Deny' }
  }
}

// The service takes one deployment at a time.
@batchSize(1)
resource models 'Microsoft.CognitiveServices/accounts/deployments@2024-10-01' = [for model in deployments: {
  parent: account
  name: model.name
  sku: { name: sku, capacity: model.capacity }
  properties: {
    model: { format: 'OpenAI', name: model.name, version: model.version }
    versionUpgradeOption: 'NoAutoUpgrade'
  }
}]

// Who changed the account and its keys. Calls are in the servers' own traces.
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-logs'
  scope: account
  properties: {
    workspaceId: logsId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

resource mayAsk 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, openAiUser)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', openAiUser)
  }
}

output id string = account.id
output endpoint string = account.properties.endpoint
