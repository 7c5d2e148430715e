// Where all state is: conversations, owners, scenarios, the audit trail, and the queue of turns.
//
// No versioning and no soft delete of blobs: every turn rewrites its documents, so each would keep
// three copies a turn, and a patient who is forgotten must be gone. `services.operations backup`
// keeps copies instead (docs/adr/0037-deleted-is-deleted.md).

param name string
param location string
param tags object
param redundancy string
param isPublic bool
@description('The servers\' identity, which alone uses the queue, and the jobs\'.')
param principalIds array
param turnQueue string
param logsId string

@description('Days during which no record of the audit trail can be changed or removed.')
param auditDays int

@description('Days without a read or write after which a blob moves to cheaper storage.')
param coolAfterDays int

var containerNames = ['chat-sessions', 'chat-users', 'scenarios', 'audit-trail']
var queueNames = [turnQueue, '${turnQueue}-poison']
var blobContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
var queueContributor = '974c5e8b-45b9-4653-ba55-5f855dd0fb88'

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: redundancy }
  properties: {
    accessTier: 'Hot'
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
    lastAccessTimeTrackingPolicy: { enable: true, name: 'AccessTimeTracking', trackingGranularityInDays: 1 }
  }
}

// What was deleted, and by whom. Reads and writes are several a turn, and the audit trail has who saw
// which patient; their requests would name patients in a second place.
resource blobAudit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-logs'
  scope: blobs
  properties: {
    workspaceId: logsId
    logs: [{ category: 'StorageDelete', enabled: true }]
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = [for container in containerNames: {
  parent: blobs
  name: container
  properties: { publicAccess: 'None' }
}]

// Records are appended, never changed. Unlocked: an operator locks it once the term is agreed,
// and then nobody can shorten it (docs/operations.md).
resource auditPolicy 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies@2023-05-01' = {
  parent: containers[3]
  name: 'default'
  properties: {
    immutabilityPeriodSinceCreationInDays: auditDays
    allowProtectedAppendWrites: true
  }
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices@2023-05-01' = {
  parent: account
  name: 'default'
}

resource queueAudit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-logs'
  scope: queues
  properties: {
    workspaceId: logsId
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

resource turnQueues 'Microsoft.Storage/storageAccounts/queueServices/queues@2023-05-01' = [for queue in queueNames: {
  parent: queues
  name: queue
}]

// Archives of cleared conversations lie beside the live ones, so what decides is use, not a name.
// A blob that is read again moves back by itself. Deleted are only notes of what channels were
// sent, and what replicas that died left: their bells, and runs that releases up to 0.2 wrote down.
resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2023-05-01' = {
  parent: account
  name: 'default'
  dependsOn: [blobs]
  properties: {
    policy: {
      rules: [
        {
          name: 'cool-what-nobody-reads'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-sessions/', 'chat-users/', 'scenarios/']
            }
            actions: {
              baseBlob: {
                tierToCool: { daysAfterLastAccessTimeGreaterThan: coolAfterDays }
                enableAutoTierToHotFromCool: true
              }
            }
          }
        }
        {
          name: 'forget-bells'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-users/bells/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 2 }
              }
            }
          }
        }
        {
          // What releases up to 0.2 wrote down of runs. Nothing else is appended to in this
          // container; a rule cannot name `watched/`, which stands below each folder.
          name: 'forget-journals'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['appendBlob']
              prefixMatch: ['chat-sessions/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 1 }
              }
            }
          }
        }
        {
          // As `KEPT_DAYS` in services/channels/deliveries.py.
          name: 'forget-deliveries'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-users/deliveries/', 'chat-users/owed/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 30 }
              }
            }
          }
        }
        {
          // As `KEPT_DAYS` in services/views/owner_changes.py.
          name: 'forget-drafts'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-users/drafts/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 7 }
              }
            }
          }
        }
        {
          // As `KEPT_DAYS` in services/tool_memory/personal.py.
          name: 'forget-own-items'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-users/personal/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 7 }
              }
            }
          }
        }
        {
          // Sessions of a sign-in end after half a day (services/access/sign_in/oidc.py).
          name: 'forget-sign-ins'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['chat-users/sessions/']
            }
            actions: {
              baseBlob: {
                delete: { daysAfterModificationGreaterThan: 1 }
              }
            }
          }
        }
      ]
    }
  }
}

// Not in the built-in role: sessions carry index tags, by which a new scenario finds them.
resource tagsRole 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(resourceGroup().id, 'rounds-blob-tags')
  properties: {
    roleName: 'Rounds blob tags ${uniqueString(resourceGroup().id)}'
    description: 'Reads, writes and searches index tags of blobs.'
    type: 'CustomRole'
    assignableScopes: [resourceGroup().id]
    permissions: [
      {
        actions: []
        dataActions: [
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/tags/read'
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/tags/write'
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/filter/action'
        ]
      }
    ]
  }
}

// Every container for every identity: the remainder counts the containers, the quotient the identities.
resource mayUseBlobs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for index in range(0, length(containerNames) * length(principalIds)): {
  name: guid(account.id, principalIds[index / length(containerNames)], containerNames[index % length(containerNames)])
  scope: containers[index % length(containerNames)]
  properties: {
    principalId: principalIds[index / length(containerNames)]
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobContributor)
  }
}]

resource mayUseTags 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for principalId in principalIds: {
  name: guid(account.id, principalId, 'tags')
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: tagsRole.id
  }
}]

resource mayUseQueues 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (queue, index) in queueNames: {
  name: guid(account.id, principalIds[0], queue)
  scope: turnQueues[index]
  properties: {
    principalId: principalIds[0]
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueContributor)
  }
}]

output id string = account.id
output name string = account.name
output blobEndpoint string = account.properties.primaryEndpoints.blob
output queueEndpoint string = account.properties.primaryEndpoints.queue
