// The CDK app of `cdk synth` and `cdk deploy`: bundles the functions, reads the settings, creates the stack.
import { App } from "aws-cdk-lib";
import { bundleFunctions } from "./bundle.ts";
import { checkRules } from "./rules.ts";
import { readSettings } from "./settings.ts";
import { EngagementStack } from "./stack.ts";

await bundleFunctions();
const app = new App({ analyticsReporting: false });
const settings = readSettings(app.node);
const stack = new EngagementStack(app, settings.stackName, settings);
checkRules(app, stack);
app.synth();
