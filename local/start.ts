// `npm start`: the service as one module, because finding and loading its 1,400 files takes longer than the rest of a
// start.
import { fileURLToPath } from "node:url";
import { openOneModule } from "./one-module.ts";

const module = await openOneModule({
  entry: fileURLToPath(new URL("main.ts", import.meta.url)),
  root: fileURLToPath(new URL("..", import.meta.url)),
  folder: fileURLToPath(new URL("../node_modules/.cache/start/", import.meta.url)),
  // A start that fills the demo calls other functions than a start without it.
  use: process.argv.includes("--demo") ? "demo" : "plain",
});
const { started } = (await module.run()) as typeof import("./main.ts");
await started;
module.keepCode();
