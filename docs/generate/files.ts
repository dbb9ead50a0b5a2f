// Every generated file of the tree, as text: what `npm run docs` writes and what a test compares with the tree.
import { accessPage } from "./access.ts";
import { consoleAccess, consoleForms } from "./console.ts";
import type { Contents } from "./contents.ts";
import { dataModelPage } from "./data-model.ts";
import { sampleEvents } from "./events.ts";
import { guidesModule } from "./guides.ts";
import { tableGolden } from "./items.ts";
import { limitsPage } from "./limits-page.ts";
import { openApiOf } from "./openapi.ts";
import { requirementsPage } from "./requirements.ts";
import { samplesModule } from "./samples.ts";
import { scalePage } from "./scale.ts";
import { sdkRoutes, sdkTypes } from "./sdk.ts";
import { statesPage } from "./states.ts";
import { toolsFile } from "./tools.ts";
import { workersPage } from "./workers.ts";

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Path from the root of the tree → content. */
export async function generatedFiles(contents: Contents): Promise<Map<string, string>> {
  const document = await openApiOf(contents);
  const events = [...sampleEvents(contents)].map(([name, event]) => [`events/${name}.json`, pretty(event)] as const);
  const routes = sdkRoutes(contents, document);
  return new Map<string, string>([
    ["sdk/src/types.gen.ts", sdkTypes(contents, document)],
    ["sdk/src/routes.gen.ts", routes.server],
    ["sdk/src/browser-routes.gen.ts", routes.browser],
    ["console/app/access.gen.ts", consoleAccess(contents)],
    ["console/app/forms.gen.ts", consoleForms(contents, document)],
    ["docs/openapi.json", pretty(document)],
    ["test/guides.gen.ts", guidesModule()],
    ["test/samples.gen.ts", samplesModule(document)],
    ["functions/api/mcp/tools.gen.ts", toolsFile(contents, document)],
    ["docs/access.md", accessPage(contents)],
    ["docs/states.md", await statesPage()],
    ["docs/data-model.md", await dataModelPage()],
    ["docs/table.golden.json", await tableGolden()],
    ["docs/workers.md", workersPage(contents)],
    ["docs/requirements.md", requirementsPage()],
    ["docs/scale.md", scalePage()],
    ["docs/limits.md", limitsPage()],
    ...events,
  ]);
}
