// The rules of infra/monitoring, as they are: what promtool has tested is what is deployed.

param name string
param location string
param tags object
param figuresId string
param peopleId string

var files = [
  loadYamlContent('../monitoring/server_rules.yml')
  loadYamlContent('../monitoring/entity_rules.yml')
]
var groups = flatten(map(files, file => file.groups))
var severities = { critical: 1, warning: 2, info: 4 }

resource ruleGroups 'Microsoft.AlertsManagement/prometheusRuleGroups@2023-03-01' = [for group in groups: {
  name: '${name}-${group.name}'
  location: location
  tags: tags
  properties: {
    enabled: true
    interval: 'PT1M'
    scopes: [figuresId]
    rules: map(group.rules, rule => {
      alert: rule.alert
      expression: rule.expr
      // `5m` is written `PT5M` here.
      for: contains(rule, 'for') ? 'PT${toUpper(rule.for)}' : 'PT0M'
      severity: severities[rule.labels.severity]
      labels: rule.labels
      annotations: rule.annotations
      actions: [{ actionGroupId: peopleId }]
      resolveConfiguration: { autoResolved: true, timeToResolve: 'PT10M' }
    })
  }
}]
