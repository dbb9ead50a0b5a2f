// A journey and campaigns as Amazon Pinpoint exports them.
export const bookkeeping = {
  ApplicationId: "0123456789abcdef0123456789abcdef",
  Arn: "arn:aws:mobiletargeting:eu-west-1:111122223333:apps/0123456789abcdef0123456789abcdef",
  CreationDate: "2025-01-15T10:00:00.000Z",
  LastModifiedDate: "2025-02-15T10:00:00.000Z",
  Version: 1,
  tags: {},
};

export const journey = {
  JourneyResponse: {
    ...bookkeeping,
    Id: "jny-1",
    Name: "Onboarding",
    State: "ACTIVE",
    StartActivity: "mail",
    StartCondition: { SegmentStartCondition: { SegmentId: "seg-paying" } },
    QuietTime: { Start: "22:00", End: "07:00" },
    Limits: { DailyCap: 1 },
    Activities: {
      mail: { EMAIL: { TemplateName: "Welcome", NextActivity: "pause" } },
      pause: { Wait: { WaitTime: { WaitFor: "P2D" }, NextActivity: "opened" } },
      opened: {
        ConditionalSplit: {
          Condition: {
            Operator: "ALL",
            Conditions: [
              { EventCondition: { Dimensions: { EventType: { DimensionType: "INCLUSIVE", Values: ["app_opened"] } } } },
            ],
          },
          EvaluationWaitTime: { WaitFor: "PT12H" },
          TrueActivity: "lot",
          FalseActivity: "push",
        },
      },
      lot: { RandomSplit: { Branches: [{ Percentage: 20 }, { Percentage: 80, NextActivity: "split" }] } },
      split: {
        MultiCondition: {
          Branches: [
            {
              Condition: { SegmentCondition: { SegmentId: "seg-paying" } },
              NextActivity: "push",
            },
            {
              Condition: {
                SegmentDimensions: { Attributes: { Interests: { AttributeType: "INCLUSIVE", Values: ["music"] } } },
              },
              NextActivity: "code",
            },
          ],
          DefaultActivity: "lambda",
        },
      },
      push: { PUSH: { TemplateName: "Welcome", MessageConfig: { TimeToLive: "60" } } },
      code: { SMS: { TemplateName: "Code", MessageConfig: { MessageType: "TRANSACTIONAL" } } },
      lambda: { CUSTOM: { DeliveryUri: "arn:aws:lambda:eu-west-1:111122223333:function:f", NextActivity: "code" } },
    },
  },
};

export const campaigns = [
  {
    CampaignResponse: {
      ...bookkeeping,
      Id: "cmp-1",
      Name: "Spring",
      SegmentId: "seg-import",
      SegmentVersion: 1,
      HoldoutPercent: 10,
      State: { CampaignStatus: "COMPLETED" },
      Schedule: {
        StartTime: "2027-03-01T09:00:00Z",
        Frequency: "ONCE",
        Timezone: "UTC",
        QuietTime: { Start: "22:00" },
      },
      MessageConfiguration: {
        EmailMessage: { Title: "Spring", HtmlBody: "<h1>Spring</h1>", FromAddress: "hello@example.com" },
        SMSMessage: { Body: "Spring is here", MessageType: "PROMOTIONAL" },
      },
      AdditionalTreatments: [{ Id: "t-1", SizePercent: 20, TreatmentName: "B" }],
    },
  },
  {
    CampaignResponse: {
      ...bookkeeping,
      Id: "cmp-2",
      Name: "Phones",
      SegmentId: "seg-phones",
      TemplateConfiguration: { PushTemplate: { Name: "Welcome" } },
    },
  },
];
