// Logs and traces in Log Analytics and Application Insights, figures in an Azure Monitor workspace,
// which understands the same rules as Prometheus.

param name string
param location string
param tags object
param principalId string
param logDays int

@description('Who is told of alerts; empty: nobody.')
param alertEmail string

var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'

resource logs 'Microsoft.OperationalInsights/workspaces@2023-09-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: logDays
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: name
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: logs.id
    RetentionInDays: logDays
  }
}

resource figures 'Microsoft.Monitor/accounts@2023-04-03' = {
  name: name
  location: location
  tags: tags
}

resource ingestion 'Microsoft.Insights/dataCollectionEndpoints@2023-03-11' = {
  name: name
  location: location
  tags: tags
  kind: 'Linux'
  properties: { networkAcls: { publicNetworkAccess: 'Enabled' } }
}

resource collection 'Microsoft.Insights/dataCollectionRules@2023-03-11' = {
  name: name
  location: location
  tags: tags
  kind: 'Linux'
  properties: {
    dataCollectionEndpointId: ingestion.id
    dataSources: {
      prometheusForwarder: [{ name: 'figures', streams: ['Microsoft-PrometheusMetrics'], labelIncludeFilter: {} }]
    }
    destinations: { monitoringAccounts: [{ name: 'figures', accountResourceId: figures.id }] }
    dataFlows: [{ streams: ['Microsoft-PrometheusMetrics'], destinations: ['figures'] }]
  }
}

resource mayPublish 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(collection.id, principalId, metricsPublisher)
  scope: collection
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
  }
}

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: name
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'rounds'
    enabled: true
    emailReceivers: empty(alertEmail) ? [] : [
      { name: 'operators', emailAddress: alertEmail, useCommonAlertSchema: true }
    ]
  }
}

output logsName string = logs.name
output logsId string = logs.id
output figuresId string = figures.id
output peopleId string = people.id
output writeUrl string = '${ingestion.properties.metricsIngestion.endpoint}/dataCollectionRules/${collection.properties.immutableId}/streams/Microsoft-PrometheusMetrics/api/v1/write?api-version=2023-04-24'

@secure()
output connection string = insights.properties.ConnectionString
