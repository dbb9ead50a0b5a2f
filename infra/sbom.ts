// The bill of materials of a build: the packages that are in its bundles, as CycloneDX (https://cyclonedx.org).
import { readFileSync } from "node:fs";
import { consolePackaged } from "../console/build.ts";
import { versionOf } from "../tools/release.ts";
import type { Bundle } from "./bundle.ts";

interface LockedPackage {
  version: string;
  license?: string;
  /** `sha512-…` in base64. */
  integrity?: string;
}

interface Component {
  type: "library";
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  licenses: { expression: string }[];
  hashes?: { alg: "SHA-512"; content: string }[];
}

const PREFIX = "node_modules/";

/** Where the package of a module is installed: `node_modules/a/node_modules/@b/c`. */
function folderOf(module: string): string {
  const at = module.lastIndexOf(PREFIX) + PREFIX.length;
  const [scope = "", name = ""] = module.slice(at).split("/");
  return module.slice(0, at) + (scope.startsWith("@") ? `${scope}/${name}` : scope);
}

/**
 * The console is packed into a bundle as text, so the bundle does not name its packages: they are asked of the console.
 * @throws for a package that package-lock.json does not have
 */
export async function billOf(bundles: ReadonlyMap<string, Bundle>) {
  const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const bundled = [...bundles.values()].flatMap(({ packaged }) => packaged);
  const folders = new Set([...bundled, ...(await consolePackaged())].map(folderOf));
  const components = [...folders].sort().map((folder): Component => {
    const locked = lock.packages[folder];
    if (!locked) throw new Error(`${folder} is in a bundle, and not in package-lock.json.`);
    const { version, license = "NOASSERTION", integrity } = locked;
    const name = folder.slice(folder.lastIndexOf(PREFIX) + PREFIX.length);
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    const sha = integrity?.startsWith("sha512-") ? integrity.slice("sha512-".length) : undefined;
    return {
      type: "library",
      "bom-ref": folder,
      name,
      version,
      purl,
      licenses: [{ expression: license }],
      ...(sha && { hashes: [{ alg: "SHA-512" as const, content: Buffer.from(sha, "base64").toString("hex") }] }),
    };
  });
  const component = { type: "application", name: "engagement-messaging-service", version: versionOf() };
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata: { component }, components };
}
