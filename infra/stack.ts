// The stack of the service. It derives from the declarations, and contains nothing that is billed by the hour.
import { CfnOutput, CfnResource, Lazy, Stack } from "aws-cdk-lib";
import type { Distribution } from "aws-cdk-lib/aws-cloudfront";
import { type CfnFunction, Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { PUBLISHER } from "../shared/contract/messages.ts";
import { versionOf } from "../tools/release.ts";
import { addAlarms } from "./alarms.ts";
import { createApi } from "./api.ts";
import { bundleFolder } from "./bundle.ts";
import { addDashboard, addQueries } from "./dashboard.ts";
import { rememberSettings } from "./deployed-settings.ts";
import { createEdge } from "./edge.ts";
import { createEmail } from "./email.ts";
import { addEventSources } from "./event-sources.ts";
import { type Contents, contents, contentsFor, deployedFunctions } from "./functions.ts";
import { createLambdas, type Lambdas } from "./lambdas.ts";
import { lookUp } from "./names.ts";
import { publishSite } from "./publish-site.ts";
import { createQueues } from "./queues.ts";
import { createSchedules } from "./schedules.ts";
import type { Settings } from "./settings.ts";
import { addPoliciesOfAdopted, createStorage } from "./storage.ts";

/** The audience of dashboard tokens. The local service uses the same one. */
const TOKEN_AUDIENCE = "engagement-dashboard";

export interface StackOptions {
  contents?: Contents;
  /** The code of a function, for tests that plant declarations without a bundle. */
  code?(name: string): Code;
}

export class EngagementStack extends Stack {
  constructor(scope: Construct, id: string, settings: Settings, options: StackOptions = {}) {
    const description = "Engagement messaging: API, live stream, workers, one table. Nothing billed by the hour.";
    super(scope, id, { description, stackName: settings.stackName, analyticsReporting: false });
    const { contents: all = contents, code = (name) => Code.fromAsset(bundleFolder(name)) } = options;

    const declared = contentsFor(settings, all);
    const storage = createStorage(this, settings);
    const queues = createQueues(this, storage.failures);
    const schedules = createSchedules(this, settings, queues);
    createEmail(this, settings, queues);
    const api = createApi(this, settings, declared);
    const { tokenIssuer } = settings;
    const mailSender = settings.emailIdentity && `no-reply@${settings.emailIdentity}`;
    const functions = deployedFunctions(declared);
    const lambdas = createLambdas(this, settings, functions, {
      storage,
      queues,
      schedules,
      code,
      mailSender,
      eventBus: settings.eventBus,
      variables: {
        EVENT_BUS: settings.eventBus,
        ARCHIVE_BUCKET: storage.archive?.bucketName,
        PUBLISH_FAILURES: storage.failures.get(PUBLISHER)?.bucketName,
        TOKEN_ISSUER: tokenIssuer?.issuer ?? (settings.domain ? `https://${settings.domain.name}` : api.url),
        TOKEN_AUDIENCE: tokenIssuer?.audience ?? TOKEN_AUDIENCE,
        TOKEN_JWKS: tokenIssuer && JSON.stringify(tokenIssuer.jwks),
        SIGN_IN_ISSUER: settings.signIn?.issuer,
        SIGN_IN_CLIENT_ID: settings.signIn?.clientId,
        DEFAULT_PLAN: settings.defaultPlan,
        REGISTRATION: settings.registration,
        // If registration is open, only the operator gives sending domains of the account and larger plans.
        STRANGERS: settings.registration === "open" ? "1" : "0",
        STREAM_CONCURRENCY: String(
          settings.streamConcurrency ?? Math.max(2, Math.floor(settings.accountConcurrency / 2)),
        ),
        SDK_REQUESTS_PER_ADDRESS: String(settings.sdkRequestsPerAddress),
        SDK_REQUESTS_PER_KEY: String(settings.sdkRequestsPerKey),
        ORIGIN_SECRET: storage.originSecret,
        EDGE_ONLY: settings.webAclArn && "1",
        MAIL_SENDER: mailSender,
        VERSION: versionOf(),
        COMMIT: settings.commit,
        REGION: this.region,
        CONFIRM_ADDRESSES: mailSender && "1",
        // Lazy, because the edge is created after the functions.
        BASE_URL: Lazy.string({ produce: () => edge.url }),
      },
    });
    api.allow(lambdas);
    addEventSources(this, settings, declared, { storage, queues, lambdas });
    const { assets, site, imports, originSecret: secret } = storage;
    const edge = createEdge(this, settings, { api, lambdas, stream: declared.stream, secret, assets, site, imports });
    publishFiles(this, lambdas, edge.distribution);
    const { distributionId } = edge;
    addPoliciesOfAdopted(this, settings, storage, distributionId);
    addAlarms(this, settings, { declared, queues, lambdas, api, storage, schedules, distributionId });
    addQueries(this, settings, functions, lambdas);
    addDashboard(this, settings, { queues, lambdas, api, storage });
    rememberSettings(this, settings);

    new CfnOutput(this, "BaseUrl", { value: edge.url, description: "What clients call." });
    new CfnOutput(this, "DistributionDomain", { value: edge.domain, description: "The target of your own domain." });
    new CfnOutput(this, "TableName", { value: storage.table.tableName });
    new CfnOutput(this, "OperatorFunction", { value: lookUp(lambdas, "operator").functionName });
  }
}

/** The time after which CloudFormation stops waiting: longer than the timeout of the function. */
const PUBLISHING_SECONDS_AT_MOST = 300;

/** Has the files written whenever the function that holds them changes, before the edge looks for them in their bucket. */
function publishFiles(stack: Stack, lambdas: Lambdas, distribution: Distribution): void {
  const publisher = lookUp(lambdas, publishSite.name);
  const { s3Key } = (publisher.node.defaultChild as CfnFunction).code as CfnFunction.CodeProperty;
  const files = new CfnResource(stack, "SiteFiles", {
    type: "AWS::CloudFormation::CustomResource",
    properties: {
      ServiceToken: publisher.functionArn,
      ServiceTimeout: PUBLISHING_SECONDS_AT_MOST,
      Files: s3Key ?? "none",
    },
  });
  distribution.node.addDependency(files);
}
