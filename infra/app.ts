// The CDK app of `cdk synth` and `cdk deploy`: bundles the functions and lists what is in them, reads the settings, creates the stack.
import { writeFile } from "node:fs/promises";
import { App } from "aws-cdk-lib";
import { bundleFunctions } from "./bundle.ts";
import { checkRules } from "./rules.ts";
import { billOf } from "./sbom.ts";
import { readSettings } from "./settings.ts";
import { EngagementStack } from "./stack.ts";

const bundles = await bundleFunctions();
await writeFile(new URL("../dist/sbom.json", import.meta.url), `${JSON.stringify(await billOf(bundles), null, 1)}\n`);
const app = new App({ analyticsReporting: false });
const settings = readSettings(app.node);
const stack = new EngagementStack(app, settings.stackName, settings);
checkRules(app, stack);
app.synth();
