// Storage: the table, the two keys, uploaded images, import files, and stream records that could not be handled.
import { Duration, Fn, RemovalPolicy, type Stack } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
} from "aws-cdk-lib/aws-dynamodb";
import { Effect, PolicyStatement, ServicePrincipal, StarPrincipal } from "aws-cdk-lib/aws-iam";
import { type IKey, Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  BucketPolicy,
  type BucketProps,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { PUBLISHER, STREAM_WORKER, type StreamWorkerName } from "../shared/contract/messages.ts";
import { tableDefinition } from "../shared/store/definition.ts";
import { publishes, type Settings } from "./settings.ts";

/** As long as the retention of a dead-letter queue: time to find the cause and send the record again. */
const FAILURES_KEPT = Duration.days(30);
const IMPORTS_KEPT = Duration.days(7);

export interface Storage {
  table: ITable;
  encryptionKey: IKey;
  signingKey: IKey;
  /** Records that a worker of the table's stream gave up, by the worker. */
  failures: ReadonlyMap<StreamWorkerName, Bucket>;
  /** Public through CloudFront alone, under its own key prefix (docs/edge.md). */
  assets: IBucket;
  /** The console's files and the documentation, as the last deployment has them: public through CloudFront alone. */
  site: IBucket;
  /** Uploaded import files, and their rejected rows. */
  imports: IBucket;
  /** The archive of events for Athena, if the setting asks for one. */
  archive: IBucket | undefined;
  /**
   * A secret of CloudFront and the functions, which makes the viewer's address trustworthy (E8, E9 in docs/edge.md).
   */
  originSecret: string;
}

/**
 * Creates the storage, or adopts what the setting `existing` names. The casts: the types differ only in which members may
 * be undefined.
 */
export function createStorage(stack: Stack, settings: Settings): Storage {
  const { existing, removal } = settings;
  const { keys, buckets = {} } = existing ?? {};
  // If the first deployment fails, whatever it created is removed.
  const removalPolicy = removal === "destroy" ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
  const table = existing
    ? Table.fromTableAttributes(stack, "Table", {
        tableName: existing.table.name,
        tableStreamArn: existing.table.streamArn,
      })
    : (createTable(stack, settings, removalPolicy) as ITable);
  const encryptionKey = keys
    ? Key.fromKeyArn(stack, "EncryptionKey", keys.encryption)
    : new Key(stack, "EncryptionKey", {
        description: `${stack.stackName}: root secrets and channel credentials`,
        enableKeyRotation: true,
        removalPolicy,
      });
  const signingKey = keys?.signing
    ? Key.fromKeyArn(stack, "SigningKey", keys.signing)
    : new Key(stack, "SigningKey", {
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
  const failedRecords = (id: string) =>
    new Bucket(stack, id, { ...closed, lifecycleRules: [{ ...abandoned, expiration: FAILURES_KEPT }] });
  const failures = new Map<StreamWorkerName, Bucket>([[STREAM_WORKER, failedRecords("Failures")]]);
  if (publishes(settings)) failures.set(PUBLISHER, failedRecords("PublishFailures"));
  // Not versioned: a key is random and written once, so a version could only restore deleted data.
  const assets = buckets.assets
    ? Bucket.fromBucketName(stack, "Assets", buckets.assets)
    : (new Bucket(stack, "Assets", { ...closed, lifecycleRules: [abandoned] }) as IBucket);

  // Made anew by each deployment, so nothing in it is worth keeping.
  const site = new Bucket(stack, "Site", {
    ...closed,
    lifecycleRules: [abandoned],
    removalPolicy: RemovalPolicy.DESTROY,
  }) as IBucket;

  // Uploaded by browsers with a signed form. Files and rejected rows are not needed for long.
  const imports = buckets.imports
    ? Bucket.fromBucketName(stack, "Imports", buckets.imports)
    : (new Bucket(stack, "Imports", {
        ...closed,
        lifecycleRules: [{ ...abandoned, expiration: IMPORTS_KEPT }],
        cors: [{ allowedMethods: [HttpMethods.POST], allowedOrigins: ["*"], allowedHeaders: ["*"] }],
      }) as IBucket);

  const archive = createArchive(stack, settings, closed);

  // Random, created with the stack and stored nowhere else: no secret in the template, and none billed by the month.
  const stackUuid = Fn.select(2, Fn.split("/", stack.stackId));
  const originSecret = Fn.join("-", [encryptionKey.keyId, stackUuid]);

  // Deleting the policy of a bucket deletes whichever it has: also that of a deployment that adopted the bucket.
  for (const bucket of [assets, imports, archive, ...failures.values()])
    bucket?.policy?.applyRemovalPolicy(removalPolicy);
  return { table, encryptionKey, signingKey, failures, assets, site, imports, archive, originSecret };
}

function createArchive(stack: Stack, { archive: days, existing }: Settings, closed: BucketProps): IBucket | undefined {
  if (days === undefined) return undefined;
  const adopted = existing?.buckets.archive;
  if (adopted) return Bucket.fromBucketName(stack, "Archive", adopted);
  return new Bucket(stack, "Archive", { ...closed, lifecycleRules: [{ expiration: Duration.days(days) }] }) as IBucket;
}

function createTable(stack: Stack, { removal, warmThroughput: warm }: Settings, removalPolicy: RemovalPolicy): Table {
  const { partitionKey, sortKey, timeToLive, stream, indexes } = tableDefinition;
  const text = (name: string) => ({ name, type: AttributeType.STRING });
  const warmThroughput = warm && { readUnitsPerSecond: warm.reads, writeUnitsPerSecond: warm.writes };
  const table = new Table(stack, "Table", {
    partitionKey: text(partitionKey),
    sortKey: text(sortKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removal === "retain",
    timeToLiveAttribute: timeToLive,
    stream: StreamViewType[stream],
    removalPolicy,
    ...(warmThroughput && { warmThroughput }),
  });
  for (const [prefix, { name, projection }] of Object.entries(indexes))
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(`${prefix}pk`),
      sortKey: text(`${prefix}sk`),
      projectionType: ProjectionType[projection],
      // A write waits for the indexes that it changes, so they are warmed with the table.
      ...(warmThroughput && { warmThroughput }),
    });
  return table;
}

/**
 * The policies of adopted buckets, which the CDK leaves alone: TLS only, and CloudFront may read the assets. CloudFormation
 * replaces no policy that it did not make, so that of the deployment that made the bucket is removed before (docs/operate.md).
 */
export function addPoliciesOfAdopted(
  stack: Stack,
  { existing }: Settings,
  { assets, imports, archive }: Storage,
  distributionId: string,
): void {
  const { assets: adoptedAssets, imports: adoptedImports, archive: adoptedArchive } = existing?.buckets ?? {};
  const SourceArn = stack.formatArn({
    service: "cloudfront",
    region: "",
    resource: "distribution",
    resourceName: distributionId,
  });
  const reading = (actions: string[], ...resources: string[]) =>
    new PolicyStatement({
      principals: [new ServicePrincipal("cloudfront.amazonaws.com")],
      actions,
      resources,
      conditions: { StringEquals: { "AWS:SourceArn": SourceArn } },
    });
  const secure = ({ bucketArn }: IBucket) =>
    new PolicyStatement({
      effect: Effect.DENY,
      principals: [new StarPrincipal()],
      actions: ["s3:*"],
      resources: [bucketArn, `${bucketArn}/*`],
      conditions: { Bool: { "aws:SecureTransport": "false" } },
    });
  if (adoptedAssets)
    new BucketPolicy(stack, "AssetsPolicy", { bucket: assets }).document.addStatements(
      secure(assets),
      reading(["s3:GetObject"], assets.arnForObjects("*")),
      reading(["s3:ListBucket"], assets.bucketArn),
    );
  if (archive && adoptedArchive)
    new BucketPolicy(stack, "ArchivePolicy", { bucket: archive }).document.addStatements(secure(archive));
  if (adoptedImports)
    new BucketPolicy(stack, "ImportsPolicy", { bucket: imports }).document.addStatements(secure(imports));
}
