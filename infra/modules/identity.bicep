// Who the servers, or the jobs, are in Azure. Every role is given to such an identity by the module of
// the resource that it reads; nobody holds a key or a password of a resource.

param name string
param location string
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: name
  location: location
  tags: tags
}

output id string = identity.id
output clientId string = identity.properties.clientId
output principalId string = identity.properties.principalId
