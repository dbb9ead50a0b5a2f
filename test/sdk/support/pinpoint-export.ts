// An export of Pinpoint in the shapes of its API reference, by file.
import { gzipSync } from "node:zlib";
import { bookkeeping, campaigns, journey } from "./pinpoint-journeys.ts";

const endpoints = [
  {
    Id: "e-ada-mail",
    ChannelType: "EMAIL",
    Address: "ada@example.com",
    EndpointStatus: "ACTIVE",
    OptOut: "ALL",
    RequestId: "r-1",
    CohortId: "12",
    ApplicationId: bookkeeping.ApplicationId,
    CreationDate: "2025-01-15T10:00:00.000Z",
    EffectiveDate: "2025-01-16T10:00:00.000Z",
    Attributes: { Interests: ["music", "sport"] },
    Metrics: { age: 36 },
    Location: { Country: "GB", City: "London", Latitude: 51.5, Longitude: -0.1 },
    Demographic: { Locale: "en_GB", Timezone: "Europe/London", Make: "Apple" },
    User: { UserId: "ada", UserAttributes: { FirstName: ["Ada"], plan: ["pro"] } },
  },
  {
    Id: "e-ada-phone",
    ChannelType: "APNS",
    Address: "ab".repeat(32),
    EndpointStatus: "ACTIVE",
    OptOut: "NONE",
    EffectiveDate: "2025-01-16T10:00:00.000Z",
    Demographic: { AppVersion: "2.4.1", Model: "iPhone", ModelVersion: "14", Platform: "iOS", PlatformVersion: "17.1" },
    User: { UserId: "ada" },
  },
  { Id: "e-ada-work", ChannelType: "EMAIL", Address: "ada@work.example.com", OptOut: "NONE", User: { UserId: "ada" } },
  { Id: "e-bob-sms", ChannelType: "SMS", Address: "+447700900123", OptOut: "ALL", User: { UserId: "bob" } },
  { Id: "e-eve-old", ChannelType: "GCM", Address: "token", EndpointStatus: "INACTIVE", User: { UserId: "eve" } },
  { Id: "e-tab", ChannelType: "BAIDU", Address: "token", OptOut: "NONE" },
  { Id: "e-bad", ChannelType: "EMAIL", Address: "not an address", User: { UserId: "bad" } },
];

const lines = (all: readonly object[]) => all.map((one) => `${JSON.stringify(one)}\n`).join("");

const segments = {
  Item: [
    {
      ...bookkeeping,
      Id: "seg-paying",
      Name: "Paying",
      SegmentType: "DIMENSIONAL",
      SegmentGroups: {
        Include: "ALL",
        Groups: [
          {
            Type: "ALL",
            SourceType: "ALL",
            SourceSegments: [],
            Dimensions: [
              {
                UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: ["pro", "team"] } },
                Metrics: { age: { ComparisonOperator: "GREATER_THAN_OR_EQUAL", Value: 18 } },
                Behavior: {},
                Demographic: {},
                Location: { Country: { DimensionType: "INCLUSIVE", Values: ["GB", "IE"] } },
              },
            ],
          },
        ],
      },
    },
    {
      ...bookkeeping,
      Id: "seg-free",
      Name: "Not paying",
      SegmentType: "DIMENSIONAL",
      SegmentGroups: {
        Include: "ALL",
        Groups: [
          {
            Type: "NONE",
            Dimensions: [{ UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: ["pro", "team"] } } }],
          },
        ],
      },
    },
    {
      ...bookkeeping,
      Id: "seg-phones",
      Name: "Phones",
      SegmentType: "DIMENSIONAL",
      Dimensions: { Demographic: { Make: { DimensionType: "INCLUSIVE", Values: ["Apple"] } } },
    },
    {
      ...bookkeeping,
      Id: "seg-import",
      Name: "Fair 2025",
      SegmentType: "IMPORT",
      ImportDefinition: {
        ExternalId: "",
        Format: "CSV",
        RoleArn: "arn:aws:iam::111122223333:role/x",
        S3Url: "s3://b/k",
        Size: 1,
      },
    },
  ],
};

const templates = [
  {
    EmailTemplateResponse: {
      ...bookkeeping,
      TemplateName: "Welcome",
      TemplateType: "EMAIL",
      Subject: "Hello {{User.UserAttributes.FirstName}}",
      HtmlPart: "<p>Good to have you, {{User.UserAttributes.FirstName}}.</p><p>{{#if x}}</p>",
      DefaultSubstitutions: '{"User":{"UserAttributes":{"FirstName":"friend"}}}',
      RecommenderId: "rec-1",
    },
  },
  {
    PushNotificationTemplateResponse: {
      ...bookkeeping,
      TemplateName: "Welcome",
      TemplateType: "PUSH",
      Default: {
        Title: "Hello",
        Body: "Good to have you.",
        Action: "URL",
        Url: "https://example.com",
        Sound: "default",
      },
      APNS: { Title: "Hello", Body: "Good to have you on this phone.", RawContent: "{}" },
    },
  },
  {
    SMSTemplateResponse: {
      ...bookkeeping,
      TemplateName: "Code",
      TemplateType: "SMS",
      Body: "Your code: {{Attributes.code}}",
    },
  },
  {
    VoiceTemplateResponse: {
      ...bookkeeping,
      TemplateName: "Call",
      TemplateType: "VOICE",
      Body: "Hello",
      VoiceId: "Amy",
    },
  },
  {
    InAppTemplateResponse: {
      ...bookkeeping,
      TemplateName: "Sale",
      TemplateType: "INAPP",
      Layout: "MIDDLE_BANNER",
      Content: [
        {
          HeaderConfig: { Header: "Sale", Alignment: "CENTER", TextColor: "#000000" },
          BodyConfig: { Body: "20% off" },
          ImageUrl: "https://example.com/sale.png",
          PrimaryBtn: { DefaultConfig: { Text: "Look", ButtonAction: "LINK", Link: "https://example.com/sale" } },
        },
      ],
    },
  },
];

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** File → content. */
export const pinpointExport: Record<string, string | Uint8Array> = {
  "endpoints/part-0000.gz": gzipSync(lines(endpoints.slice(0, 3))),
  "endpoints/part-0001": lines(endpoints.slice(3)),
  "seg-import/part-0000.json": lines([
    { Id: "e-ada-mail", ChannelType: "EMAIL", Address: "ada@example.com", User: { UserId: "ada" } },
  ]),
  "segments.json": json({ SegmentsResponse: segments }),
  ...Object.fromEntries(templates.map((template, i) => [`templates/${i}.json`, json(template)])),
  "journey.json": json(journey),
  ...Object.fromEntries(campaigns.map((campaign, i) => [`campaigns/${i}.json`, json(campaign)])),
};

/** What of it has no counterpart, by kind, name and field. */
export const unmappedFields = [
  "campaigns Phones SegmentId",
  "campaigns Spring AdditionalTreatments",
  "campaigns Spring MessageConfiguration.EmailMessage.FromAddress",
  "campaigns Spring Schedule.QuietTime",
  "endpoints Address",
  "endpoints ChannelType",
  "endpoints Demographic.Make",
  "endpoints Demographic.ModelVersion",
  "endpoints Demographic.Platform",
  "endpoints EndpointStatus",
  "endpoints Location.Latitude",
  "endpoints Location.Longitude",
  "endpoints email",
  "journeys Onboarding Activities.lambda.CUSTOM",
  "journeys Onboarding Activities.lot.RandomSplit",
  "journeys Onboarding Activities.push.PUSH.MessageConfig.TimeToLive",
  "journeys Onboarding Limits.DailyCap",
  "journeys Onboarding QuietTime",
  "journeys Onboarding StartCondition.SegmentStartCondition",
  "segments Phones Demographic.Make",
  "templates Call TemplateType",
  "templates Sale Content.HeaderConfig.Alignment",
  "templates Sale Content.HeaderConfig.TextColor",
  "templates Sale Layout",
  "templates Welcome APNS.Body",
  "templates Welcome APNS.RawContent",
  "templates Welcome HtmlPart",
  "templates Welcome RecommenderId",
];
