// The server: as many replicas as there is work, each with a collector of traces and figures beside
// it. A replica may die at any time; another finishes its turns.

param name string
param location string
param tags object
param environmentId string
param identityId string
param identityClientId string
param registryServer string
param image string
param collectorImage string
param minReplicas int
param maxReplicas int
param storageName string
param turnQueue string
param writeUrl string
param vaultUri string

@description('Settings of the server: name and value, or name and secretRef.')
param settings array

@description('Secrets besides the collector\'s: name and keyVaultUrl.')
param secrets array

var collectorSecrets = [
  { name: 'telemetry-connection', keyVaultUrl: '${vaultUri}secrets/telemetry-connection' }
  { name: 'metrics-token', keyVaultUrl: '${vaultUri}secrets/metrics-token' }
]
var metricsToken = { name: 'METRICS_TOKEN', secretRef: 'metrics-token' }

resource server 'Microsoft.App/containerApps@2025-01-01' = {
  name: name
  location: location
  tags: tags
  identity: { type: 'UserAssigned', userAssignedIdentities: { '${identityId}': {} } }
  properties: {
    environmentId: environmentId
    configuration: {
      activeRevisionsMode: 'Single'
      registries: [{ server: registryServer, identity: identityId }]
      ingress: {
        external: true
        allowInsecure: false
        targetPort: 3978
        transport: 'auto'
        // A replica that knows a conversation needs one read less; any other serves it as well.
        stickySessions: { affinity: 'sticky' }
      }
      secrets: [for secret in concat(secrets, collectorSecrets): {
        name: secret.name
        keyVaultUrl: secret.keyVaultUrl
        identity: identityId
      }]
    }
    template: {
      // A server that is asked to stop finishes its turns within 25 s.
      terminationGracePeriodSeconds: 40
      containers: [
        {
          name: 'rounds'
          image: image
          resources: { cpu: json('1.0'), memory: '2Gi' }
          env: concat(settings, [metricsToken])
          volumeMounts: [{ volumeName: 'scratch', mountPath: '/data' }]
          probes: [
            {
              type: 'Startup'
              httpGet: { path: '/healthz', port: 3978 }
              // The service takes no threshold above 10.
              periodSeconds: 5
              failureThreshold: 10
            }
            {
              type: 'Liveness'
              httpGet: { path: '/healthz', port: 3978 }
              periodSeconds: 10
              timeoutSeconds: 5
              failureThreshold: 6
            }
            {
              type: 'Readiness'
              httpGet: { path: '/readyz', port: 3978 }
              periodSeconds: 5
              timeoutSeconds: 5
              failureThreshold: 3
            }
          ]
        }
        {
          name: 'collector'
          image: collectorImage
          args: ['--config=env:COLLECTOR_CONFIG']
          resources: { cpu: json('0.25'), memory: '0.5Gi' }
          env: [
            { name: 'COLLECTOR_CONFIG', value: loadTextContent('../monitoring/collector.yml') }
            { name: 'COLLECTOR_CLIENT_ID', value: identityClientId }
            { name: 'COLLECTOR_WRITE_URL', value: writeUrl }
            { name: 'COLLECTOR_CONNECTION', secretRef: 'telemetry-connection' }
            metricsToken
          ]
        }
      ]
      volumes: [{ name: 'scratch', storageType: 'EmptyDir' }]
      scale: {
        minReplicas: minReplicas
        maxReplicas: maxReplicas
        rules: [
          {
            name: 'people'
            http: { metadata: { concurrentRequests: '400' } }
          }
          {
            // Each bot turn that runs has a note in the queue, so its length is the work under way.
            name: 'turns'
            custom: {
              type: 'azure-queue'
              identity: identityId
              metadata: {
                accountName: storageName
                queueName: turnQueue
                queueLength: '40'
                queueLengthStrategy: 'all'
              }
            }
          }
        ]
      }
    }
  }
}
