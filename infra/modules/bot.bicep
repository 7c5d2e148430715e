// The bot's registration, and Teams as its channel. It signs in as the servers' identity.

param name string
param tags object
param endpoint string
param identityId string
param identityClientId string

resource bot 'Microsoft.BotService/botServices@2022-09-15' = {
  name: name
  location: 'global'
  tags: tags
  kind: 'azurebot'
  sku: { name: 'S1' }
  properties: {
    displayName: 'Rounds'
    endpoint: endpoint
    msaAppType: 'UserAssignedMSI'
    msaAppId: identityClientId
    msaAppMSIResourceId: identityId
    msaAppTenantId: subscription().tenantId
    disableLocalAuth: true
  }
}

resource teams 'Microsoft.BotService/botServices/channels@2022-09-15' = {
  parent: bot
  name: 'MsTeamsChannel'
  location: 'global'
  properties: {
    channelName: 'MsTeamsChannel'
    properties: { isEnabled: true }
  }
}
