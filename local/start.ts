// `npm start`: the service as one module. To find and load its 1,400 files takes longer than all else that a start does.
import { fileURLToPath } from "node:url";
import { openOneModule } from "./one-module.ts";

const module = await openOneModule({
  entry: fileURLToPath(new URL("main.ts", import.meta.url)),
  root: fileURLToPath(new URL("..", import.meta.url)),
  folder: fileURLToPath(new URL("../node_modules/.cache/start/", import.meta.url)),
  // Filling the demo calls what a start without it does not.
  use: process.argv.includes("--demo") ? "demo" : "plain",
});
const { started } = (await module.run()) as typeof import("./main.ts");
await started;
module.keepCode();
