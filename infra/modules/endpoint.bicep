// A private way to one resource, and the name under which the servers find it.

param name string
param location string
param tags object
param subnetId string
param zoneId string
param targetId string

@description('Which of the resource\'s services is meant: blob, queue, account or vault.')
param service string

resource endpoint 'Microsoft.Network/privateEndpoints@2024-01-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      {
        name: name
        properties: { privateLinkServiceId: targetId, groupIds: [service] }
      }
    ]
  }
}

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-01-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      { name: service, properties: { privateDnsZoneId: zoneId } }
    ]
  }
}
