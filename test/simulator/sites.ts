// Tells which planted bugs a run would have come across: whether the code that they change was executed.
import { Session } from "node:inspector/promises";
import type { Bug } from "./planted/bug.ts";
import { sourceOf } from "./planting.ts";

const ROOT = new URL("../../", import.meta.url);

interface Sites {
  /** The bugs whose code was executed since the last time. What is evaluated when a file is loaded counts always. */
  take(): Promise<ReadonlySet<Bug>>;
  close(): Promise<void>;
}

interface Site {
  bug: Bug;
  at: number;
}

export async function watchSites(bugs: readonly Bug[]): Promise<Sites> {
  const places = new Map<string, Site[]>();
  for (const bug of bugs) {
    const url = new URL(bug.file, ROOT).href;
    places.set(url, [...(places.get(url) ?? []), { bug, at: sourceOf(bug.file).indexOf(bug.find) }]);
  }
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

  /** Innermost range of each place, with whether it belongs to the module itself. */
  const look = async (): Promise<{ bug: Bug; count: number; isModule: boolean }[]> => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result.flatMap(({ url, functions }) =>
      (places.get(url) ?? []).flatMap(({ bug, at }) => {
        const ranges = functions.flatMap(({ functionName, ranges: of }, nth) =>
          of.map((range) => ({ ...range, isModule: nth === 0 && functionName === "" && of[0]!.startOffset === 0 })),
        );
        const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
        const inmost = around.sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0];
        return inmost ? [{ bug, count: inmost.count, isModule: inmost.isModule }] : [];
      }),
    );
  };
  const first = await look();
  const always = new Set(bugs.filter((bug) => !first.some((found) => found.bug === bug && !found.isModule)));

  return {
    take: async () => {
      const found = await look();
      return new Set([
        ...always,
        ...found.filter(({ count, isModule }) => count > 0 && !isModule).map(({ bug }) => bug),
      ]);
    },
    close: async () => {
      await session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}
