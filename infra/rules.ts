// cdk-nag's AwsSolutions rules over the whole app. Exceptions are listed by resource, with their reasons.
import { type App, type CfnElement, type Stack, Validations } from "aws-cdk-lib";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import type { IConstruct } from "constructs";

interface AcceptedFinding {
  on: (construct: IConstruct) => boolean;
  rule: string;
  reason: string;
}

export function checkRules(app: App, stack: Stack): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const { on, rule, reason } of [...acceptedIn(stack), acceptedOfMails(stack), ...acceptedOfPublisher(stack)])
    for (const construct of stack.node.children.filter(on))
      Validations.of(construct).acknowledge({ id: `AwsSolutions-${rule}`, reason });
}

/** For an adopted bucket the template has only the name. */
function arnOf(stack: Stack, id: string): string {
  const bucket = stack.node.findChild(id);
  const element = bucket.node.defaultChild as CfnElement | undefined;
  return element
    ? `<${stack.getLogicalId(element)}.Arn>`
    : `arn:<AWS::Partition>:s3:::${(bucket as Bucket).bucketName}`;
}

/** Exceptions for resources that exist only if something is published. */
function acceptedOfPublisher(stack: Stack): AcceptedFinding[] {
  if (!stack.node.tryFindChild("PublishFailures")) return [];
  const onRole = ({ node }: IConstruct) => node.id === "PublishEventsRole";
  return [
    {
      on: onRole,
      rule: `IAM5[Resource::${arnOf(stack, "PublishFailures")}/*]`,
      reason: "Lambda chooses the names of the objects in which it stores failed stream records.",
    },
    {
      on: onRole,
      rule: `IAM5[Resource::${arnOf(stack, "PublishFailures")}/refused/*]`,
      reason: "What the event bus refuses is stored under a name of its own; the function may access only the prefix.",
    },
    ...(stack.node.tryFindChild("Archive")
      ? [
          {
            on: onRole,
            rule: `IAM5[Resource::${arnOf(stack, "Archive")}/records/*]`,
            reason: "Objects are named after what they hold; the bucket holds nothing else.",
          },
        ]
      : []),
    {
      on: ({ node }) => node.id === "Archive",
      rule: "S1",
      reason: "Only one function writes, and the account's own queries read, which CloudTrail can record.",
    },
  ];
}

/** Functions that take, show or send messages, and the purge. */
const WITH_MAILS: ReadonlySet<string> = new Set([
  "ApiNotificationsRole",
  "ApiRecipientsRole",
  "ApiTestsRole",
  "ApiTemplatesRole",
  "ApiCampaignsRole",
  "ApiJourneysRole",
  "ApiMcpRole",
  "DeliverRole",
  "PurgeRole",
]);

const acceptedOfMails = (stack: Stack): AcceptedFinding => ({
  on: ({ node }) => WITH_MAILS.has(node.id),
  rule: `IAM5[Resource::${arnOf(stack, "Assets")}/mails/*]`,
  reason: "Large mails are named by their workspace and hash; the function may access only the prefix.",
});

function acceptedIn(stack: Stack): AcceptedFinding[] {
  const named = (id: string) => (construct: IConstruct) => construct.node.id === id;
  const bucketArn = (id: string) => arnOf(stack, id);
  const scheduleName = "arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<ScheduleGroup>/due-*";
  return [
    {
      on: ({ node }) => node.id.endsWith("Role"),
      rule: "IAM5[Resource::*]",
      reason:
        "X-Ray, dynamodb:ListStreams and ses:GetAccount support no resources; test/infra/grants.test.ts allows only these actions.",
    },
    {
      on: named("ReactRole"),
      rule: `IAM5[Resource::${bucketArn("Failures")}/*]`,
      reason: "Lambda chooses the names of the objects in which it stores failed stream records.",
    },
    {
      on: named("ReactRole"),
      rule: `IAM5[Resource::${scheduleName}]`,
      reason: "A schedule is named after its minute: one name per minute, within our own group.",
    },
    {
      on: ({ node }) => ["ApiAssetsRole", "DiscardAssetRole", "PurgeRole"].includes(node.id),
      rule: `IAM5[Resource::${bucketArn("Assets")}/assets/*]`,
      reason: "Every asset has a random name; the function may access only the prefix.",
    },
    {
      on: ({ node }) => ["ApiImportsRole", "ImportRowsRole", "EraseRole", "PurgeRole"].includes(node.id),
      rule: `IAM5[Resource::${bucketArn("Imports")}/*]`,
      reason: "Every import has a file of its own, named after it; the bucket holds nothing else.",
    },
    {
      on: named("PublishSiteRole"),
      rule: `IAM5[Resource::${bucketArn("Site")}/*]`,
      reason: "The files of a deployment have hashed names; the bucket holds nothing else.",
    },
    {
      on: ({ node }) => ["DeliverRole", "VerifyChannelRole", "ApiTestsRole"].includes(node.id),
      rule: "IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:*]",
      reason: "The addresses that a workspace sends from are known only when it sends or verifies them.",
    },
    {
      on: ({ node }) => ["ApiTeamRole", "MailAccountRole"].includes(node.id),
      rule: "IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:*]",
      reason: "Only from the service's own address, by condition; its configuration set counts as a resource too.",
    },
    {
      on: ({ node }) => ["Failures", "PublishFailures"].includes(node.id),
      rule: "S1",
      reason:
        "Only Lambda writes and only operators read, both recorded by CloudTrail; a log bucket would need one too.",
    },
    {
      on: named("Imports"),
      rule: "S1",
      reason: "Files are deleted after a week and reached only by signed forms and links, which CloudTrail can record.",
    },
    {
      on: named("Site"),
      rule: "S1",
      reason: "Public files of the product itself, which a deployment writes and only CloudFront may read.",
    },
    {
      on: named("Assets"),
      rule: "S1",
      reason: "Public images that only CloudFront may read; their viewers are deliberately not recorded.",
    },
    {
      on: ({ node }) => ["ReactDeadQueue", "PublishEventsDeadQueue"].includes(node.id),
      rule: "SQS3",
      reason: "It is the dead-letter queue of the table's stream; the rule knows only those of queues.",
    },
    {
      on: named("Distribution"),
      rule: "CFR1",
      reason: "The owner of a deployment decides which countries it serves; the service has no such rule.",
    },
    {
      on: named("Distribution"),
      rule: "CFR2",
      reason: "WAF is billed by the month while idle; limits per workspace and per address are in the functions.",
    },
    {
      on: named("Distribution"),
      rule: "CFR3",
      reason: "Its log holds the query string, and browsers' EventSource puts the SDK key there (AMB-42).",
    },
    {
      on: named("Distribution"),
      rule: "CFR4",
      reason: "CloudFront's own certificate cannot have a policy; with your own domain TLS 1.2 (2021) is set.",
    },
  ];
}
