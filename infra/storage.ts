// Storage: the table, the two keys, uploaded images, import files, and stream records that could not be handled.
import { Duration, Fn, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from "aws-cdk-lib/aws-dynamodb";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { tableDefinition } from "../shared/store/definition.ts";
import type { Settings } from "./settings.ts";

/** As long as the retention of a dead-letter queue: time to find the cause and send the record again. */
const FAILURES_KEPT = Duration.days(30);
const IMPORTS_KEPT = Duration.days(7);

export interface Storage {
  table: Table;
  encryptionKey: Key;
  signingKey: Key;
  failures: Bucket;
  /** Public through CloudFront alone, under its own key prefix (docs/edge.md). */
  assets: Bucket;
  /** Uploaded import files, and their rejected rows. */
  imports: Bucket;
  /**
   * A secret of CloudFront and the functions, which makes the viewer's address trustworthy (E8, E9 in docs/edge.md).
   */
  originSecret: string;
}

export function createStorage(stack: Stack, { removal }: Settings): Storage {
  // A first deployment that fails leaves nothing behind that was created with it.
  const removalPolicy = removal === "destroy" ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
  const { partitionKey, sortKey, timeToLive, stream, indexes } = tableDefinition;
  const text = (name: string) => ({ name, type: AttributeType.STRING });

  const table = new Table(stack, "Table", {
    partitionKey: text(partitionKey),
    sortKey: text(sortKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removal === "retain",
    timeToLiveAttribute: timeToLive,
    stream: StreamViewType[stream],
    removalPolicy,
  });
  for (const [prefix, { name, projection }] of Object.entries(indexes))
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(`${prefix}pk`),
      sortKey: text(`${prefix}sk`),
      projectionType: ProjectionType[projection],
    });

  const encryptionKey = new Key(stack, "EncryptionKey", {
    description: `${stack.stackName}: root secrets and channel credentials`,
    enableKeyRotation: true,
    removalPolicy,
  });
  const signingKey = new Key(stack, "SigningKey", {
    description: `${stack.stackName}: dashboard tokens`,
    keySpec: KeySpec.RSA_2048,
    keyUsage: KeyUsage.SIGN_VERIFY,
    removalPolicy,
  });

  const closed = {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
  };
  const abandoned = { abortIncompleteMultipartUploadAfter: Duration.days(1) };
  const failures = new Bucket(stack, "Failures", {
    ...closed,
    lifecycleRules: [{ ...abandoned, expiration: FAILURES_KEPT }],
  });
  // Not versioned: a key is random and written once, so a version could only restore deleted data.
  const assets = new Bucket(stack, "Assets", { ...closed, lifecycleRules: [abandoned] });

  // Uploaded by browsers with a signed form. Files and rejected rows are not needed for long.
  const imports = new Bucket(stack, "Imports", {
    ...closed,
    lifecycleRules: [{ ...abandoned, expiration: IMPORTS_KEPT }],
    cors: [{ allowedMethods: [HttpMethods.POST], allowedOrigins: ["*"], allowedHeaders: ["*"] }],
  });

  // Random, created with the stack and stored nowhere else: no secret in the template, and none billed by the month.
  const stackUuid = Fn.select(2, Fn.split("/", stack.stackId));
  const originSecret = Fn.join("-", [encryptionKey.keyId, stackUuid]);

  return { table, encryptionKey, signingKey, failures, assets, imports, originSecret };
}
