// The door of the embedded AWS: nothing outside of this folder imports another of its files.
export { type Database, openDatabase } from "./database.ts";
export { CONFLICTING, canceledTransaction } from "./dynamodb/canceled.ts";
export { normalizeNumber } from "./dynamodb/numbers.ts";
export { warm } from "./dynamodb/throughput.ts";
export {
  createDynamoDb,
  type DynamoDb,
  type DynamoDbFaults,
  type DynamoDbMeter,
  type StreamRecord,
} from "./dynamodb.ts";
export { createEventBridge, type EntryFailure, type EventBridge } from "./eventbridge.ts";
export { createKms, type Kms } from "./kms.ts";
export { startAwsPort } from "./port.ts";
export { type Hooks, handleAwsRequest, requestHandler, type Services, sendThrough, unsigned } from "./protocol.ts";
export { createRemoteDynamoDb } from "./remote-dynamodb.ts";
export { BUCKET_NAME, createS3, type S3 } from "./s3.ts";
export { createScheduler, type Deliver, type Scheduler } from "./scheduler.ts";
export { createSes, type Mailbox, type Ses, type SesEvent } from "./ses.ts";
export { createSqs, type Sqs, type SqsFaults } from "./sqs.ts";
export { awsFailure, isAwsFailure, type ServiceName, type StandIn, type Wire } from "./stand-in.ts";
