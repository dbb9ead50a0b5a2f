// cdk-nag's AwsSolutions rules over the whole app; what is not followed is named here, with the reason.
import { type App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";

const accepted: readonly { id: string; reason: string }[] = [];

export function checkRules(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const finding of accepted) Validations.of(app).acknowledge(finding);
}
