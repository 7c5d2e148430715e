// The place where the servers and the scheduled jobs run.

param name string
param location string
param tags object
param logsName string

@description('Subnet of the servers; empty: the service\'s own network.')
param subnetId string

@description('Reached from the virtual network only; needs a subnet.')
param isPrivate bool

@description('Spread over three zones; needs a subnet.')
param isZoneRedundant bool

resource logs 'Microsoft.OperationalInsights/workspaces@2023-09-01' existing = {
  name: logsName
}

resource environment 'Microsoft.App/managedEnvironments@2025-01-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    zoneRedundant: isZoneRedundant
    vnetConfiguration: empty(subnetId) ? null : { infrastructureSubnetId: subnetId, internal: isPrivate }
    appLogsConfiguration: {
      destination: 'log-analytics'
      logAnalyticsConfiguration: {
        customerId: logs.properties.customerId
        sharedKey: logs.listKeys().primarySharedKey
      }
    }
    workloadProfiles: [{ name: 'Consumption', workloadProfileType: 'Consumption' }]
  }
}

output id string = environment.id
output domain string = environment.properties.defaultDomain
