// Long jobs over many rows: imports, exports, and simulations on history. They share one queue, because an idle queue
// costs its polling (docs/decisions/0106).
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { uses } from "./context.ts";
import { makeExport } from "./exports.ts";
import { importFile } from "./imports.ts";
import { simulateOnHistory } from "./simulations.ts";

export const importRows = queueWorker(
  "import-rows",
  "Reads import files into lists, makes the files of exports, and computes simulations on history.",
  uses,
  async (message, context) => {
    switch (message.kind) {
      case "import":
        return importFile(message, context);
      case "export":
        return makeExport(message, context);
      case "simulation":
        return simulateOnHistory(message, context);
    }
  },
);
