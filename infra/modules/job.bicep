// A command of ours that runs by the clock, from the server's own image.

param name string
param location string
param tags object
param environmentId string
param identityId string
param registryServer string
param image string
param settings array
param secrets array
param command array

@description('In UTC, in the form of cron.')
param schedule string

resource job 'Microsoft.App/jobs@2025-01-01' = {
  name: name
  location: location
  tags: tags
  identity: { type: 'UserAssigned', userAssignedIdentities: { '${identityId}': {} } }
  properties: {
    environmentId: environmentId
    configuration: {
      triggerType: 'Schedule'
      replicaTimeout: 14400
      replicaRetryLimit: 1
      scheduleTriggerConfig: { cronExpression: schedule, parallelism: 1, replicaCompletionCount: 1 }
      registries: [{ server: registryServer, identity: identityId }]
      secrets: [for secret in secrets: {
        name: secret.name
        keyVaultUrl: secret.keyVaultUrl
        identity: identityId
      }]
    }
    template: {
      containers: [
        {
          name: 'command'
          image: image
          command: command
          env: settings
          resources: { cpu: json('0.5'), memory: '1Gi' }
        }
      ]
    }
  }
}
