// Backups in an account of their own, which the servers cannot reach: whoever takes a server over can
// delete no backup. Only the jobs' identity writes here.

param name string
param location string
param tags object
param redundancy string
param isPublic bool
param principalId string
param logsId string

@description('Days after which a backup is deleted; a patient who was forgotten is gone from all of them then.')
param keptDays int

var containerName = 'backups'
var blobContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: redundancy }
  properties: {
    accessTier: 'Cool'
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAcls: { bypass: 'AzureServices', defaultAction: isPublic ? 'Allow' : 'Deny' }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' = {
  parent: account
  name: 'default'
  properties: {
    isVersioningEnabled: false
    deleteRetentionPolicy: { enabled: false }
    containerDeleteRetentionPolicy: { enabled: true, days: 14 }
  }
}

resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-logs'
  scope: blobs
  properties: {
    workspaceId: logsId
    logs: [{ category: 'StorageDelete', enabled: true }]
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = {
  parent: blobs
  name: containerName
  properties: { publicAccess: 'None' }
}

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2023-05-01' = {
  parent: account
  name: 'default'
  dependsOn: [blobs]
  properties: {
    policy: {
      rules: [
        {
          name: 'forget-backups'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: { blobTypes: ['blockBlob', 'appendBlob'], prefixMatch: ['${containerName}/'] }
            actions: { baseBlob: { delete: { daysAfterModificationGreaterThan: keptDays } } }
          }
        }
      ]
    }
  }
}

resource mayWrite 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, containerName)
  scope: container
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobContributor)
  }
}

output id string = account.id
