// One virtual network: servers in one subnet, private endpoints in the other, and the names that
// lead to them. Deployed only with `privateNetwork`.

param name string
param location string
param tags object
param addressPrefix string

var zoneNames = [
  'privatelink.blob.${environment().suffixes.storage}'
  'privatelink.queue.${environment().suffixes.storage}'
  'privatelink.openai.azure.com'
  'privatelink.vaultcore.azure.net'
]

resource network 'Microsoft.Network/virtualNetworks@2024-01-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [addressPrefix] }
    subnets: [
      {
        name: 'servers'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 23, 0)
          delegations: [
            { name: 'servers', properties: { serviceName: 'Microsoft.App/environments' } }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 24, 2)
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
    ]
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2020-06-01' = [for zone in zoneNames: {
  name: zone
  location: 'global'
  tags: tags
}]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2020-06-01' = [for (zone, index) in zoneNames: {
  parent: zones[index]
  name: name
  location: 'global'
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: network.id }
  }
}]

output serversSubnetId string = network.properties.subnets[0].id
output endpointsSubnetId string = network.properties.subnets[1].id
output blobZoneId string = zones[0].id
output queueZoneId string = zones[1].id
output modelsZoneId string = zones[2].id
output vaultZoneId string = zones[3].id
