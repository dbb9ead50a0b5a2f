// What functions may do to the table beyond reading, PutItem and UpdateItem. The code of a function reaches exactly these
// actions: test/infra/bundles.test.ts compares them with its bundle (docs/decisions/0031).

/** Of a capability's grants, these go to a function only where it is listed here. */
export const listedActions = ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"] as const;
export type ListedAction = (typeof listedActions)[number];

/** By the names of functions in a deployment. One that is not here has none of them. */
export const furtherActions: Readonly<Record<string, readonly ListedAction[]>> = {
  "api-devices": ["ConditionCheckItem", "DeleteItem"],
  "api-notifications": ["BatchWriteItem", "DeleteItem"],
  "api-templates": ["BatchWriteItem", "DeleteItem"],
  "api-topics": ["DeleteItem"],
  "api-schedules": ["BatchWriteItem", "DeleteItem"],
  "api-campaigns": ["BatchWriteItem", "DeleteItem"],
  "api-journeys": ["BatchWriteItem", "DeleteItem"],
  "api-segments": ["BatchWriteItem", "DeleteItem"],
  "api-channels": ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"],
  "api-experiences": ["BatchWriteItem", "DeleteItem"],
  "api-assets": ["BatchWriteItem", "DeleteItem"],
  "api-inbound": ["ConditionCheckItem"],
  "api-imports": ["BatchWriteItem"],
  "api-insights": ["DeleteItem"],
  "api-annotations": ["DeleteItem"],
  "api-hooks": ["DeleteItem"],
  "api-webhooks": ["DeleteItem"],
  "api-lists": ["BatchWriteItem", "DeleteItem"],
  "api-events": ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"],
  "api-auth": ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"],
  "api-team": ["DeleteItem"],
  "api-mcp": ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"],
  react: ["BatchWriteItem", "DeleteItem"],
  "mail-account": ["DeleteItem"],
  due: ["BatchWriteItem"],
  "fan-out": ["BatchWriteItem"],
  deliver: ["BatchWriteItem"],
  "post-webhook": ["BatchWriteItem"],
  "import-rows": ["BatchWriteItem", "DeleteItem"],
  "run-schedule": ["BatchWriteItem", "DeleteItem"],
  "run-campaign": ["BatchWriteItem", "DeleteItem"],
  "step-journey": ["BatchWriteItem", "DeleteItem"],
  "verify-channel": ["BatchWriteItem"],
  "complete-events": ["BatchWriteItem", "DeleteItem"],
  "delete-memberships": ["BatchWriteItem", "DeleteItem"],
  erase: ["BatchWriteItem", "DeleteItem"],
  "discard-asset": ["DeleteItem"],
  "end-experience": ["DeleteItem"],
  segment: ["BatchWriteItem", "DeleteItem"],
  "recompute-segment": ["BatchWriteItem", "DeleteItem"],
  recount: ["BatchWriteItem", "ConditionCheckItem", "DeleteItem"],
  purge: ["BatchWriteItem", "DeleteItem"],
  operator: ["BatchWriteItem"],
  stream: ["DeleteItem"],
};
