// What CloudFront serves from buckets: files that a deployment wrote, and assets of workspaces (docs/edge.md, E20 to E26).
import { Duration, type Stack } from "aws-cdk-lib";
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersReferrerPolicy,
  ResponseHeadersPolicy,
  type ResponseSecurityHeadersBehavior,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { letters } from "../console/build.ts";
import {
  CONSOLE_DOCUMENT,
  CONSOLE_PATH,
  commonHeaders,
  consolePolicy,
  EXTENSION,
  HASHED_PATH,
} from "../console/policy.ts";
import { pagePolicy } from "../docs/site/page.ts";
import { assetHeaders } from "../shared/store/files/assets.ts";
import { logicalIdOf } from "./names.ts";

/** Paths that any site may read (docs/decisions/0119). */
const OPEN_PATHS = [`${HASHED_PATH}*`, "/docs", "/docs/*", "/openapi.json"];
const PAGE_PATHS = [CONSOLE_PATH, `${CONSOLE_PATH}/*`];

/** How long the edge may serve an asset after its deletion. */
const DELETED_ASSET_STAYS = Duration.minutes(1);

const HTTPS_ONLY_FOR = Duration.days(365);

/** Subdomains of the domain may belong to other services, so they are not included. */
export const safeTransport: ResponseSecurityHeadersBehavior = {
  strictTransportSecurity: { accessControlMaxAge: HTTPS_ONLY_FOR, override: true },
  referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: false },
};

/**
 * The same for answers of the edge's own functions: AWS adds a policy's headers only to answers of origins and of its
 * cache.
 */
export const safeTransportHeaders: Readonly<Record<string, string>> = {
  "strict-transport-security": `max-age=${HTTPS_ONLY_FOR.toSeconds()}`,
  "referrer-policy": HeadersReferrerPolicy.NO_REFERRER,
};

/** A name that is unique in the account, because it has the region: CloudFront's names are not regional. */
export const globalName = (stack: Stack, what: string): string => `${stack.stackName}-${stack.region}-${what}`;

interface FileBuckets {
  site: IBucket;
  imports: IBucket;
}

/**
 * Files that a deployment wrote: kept as long as their `Cache-Control` says, and compressed as the client accepts. The
 * first pattern that fits a path decides.
 */
export function fileBehaviors(stack: Stack, { site, imports }: FileBuckets): Record<string, BehaviorOptions> {
  const files = {
    origin: S3BucketOrigin.withOriginAccessControl(site, {
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      originAccessControl: new S3OriginAccessControl(stack, "SiteAccess", {
        originAccessControlName: globalName(stack, "site"),
      }),
    }),
    allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    cachePolicy: CachePolicy.CACHING_OPTIMIZED,
    compress: true,
  };
  const toDocument = new EdgeFunction(stack, "ConsolePages", {
    comment: "A path of the console that is no file is a page of its one document.",
    runtime: FunctionRuntime.JS_2_0,
    code: FunctionCode.fromInline(pageRequestCode()),
  });
  const open = { ...files, responseHeadersPolicy: openHeaders(stack) };
  const pages = {
    ...files,
    responseHeadersPolicy: documentHeaders(
      stack,
      "console",
      consolePolicy(`https://${imports.bucketRegionalDomainName}`),
    ),
    functionAssociations: [{ function: toDocument, eventType: FunctionEventType.VIEWER_REQUEST }],
  };
  const ofLetters = letters().map(({ path, policy }): [string, BehaviorOptions] => {
    const name = path.slice(CONSOLE_PATH.length + 1, path.lastIndexOf("."));
    return [path, { ...files, responseHeadersPolicy: documentHeaders(stack, name, policy) }];
  });
  return Object.fromEntries([
    ...OPEN_PATHS.map((path) => [path, open]),
    ...ofLetters,
    ...PAGE_PATHS.map((path) => [path, pages]),
  ]);
}

const openHeaders = (stack: Stack): ResponseHeadersPolicy =>
  new ResponseHeadersPolicy(stack, "FileHeaders", {
    responseHeadersPolicyName: globalName(stack, "files"),
    comment: "Hashed files and documentation: nothing inline, nothing of other sites; any site may read them.",
    securityHeadersBehavior: {
      ...safeTransport,
      contentTypeOptions: { override: true },
      contentSecurityPolicy: { contentSecurityPolicy: pagePolicy, override: true },
    },
    corsBehavior: {
      accessControlAllowCredentials: false,
      accessControlAllowHeaders: ["*"],
      accessControlAllowMethods: ["GET", "HEAD"],
      accessControlAllowOrigins: ["*"],
      originOverride: true,
    },
  });

/** The headers of documents of the console, as `commonHeaders` in console/policy.ts says them for the local service. */
const documentHeaders = (stack: Stack, name: string, contentSecurityPolicy: string): ResponseHeadersPolicy =>
  new ResponseHeadersPolicy(stack, `${logicalIdOf(name)}Headers`, {
    responseHeadersPolicyName: globalName(stack, name),
    comment: `The content policy of the console's documents: ${name}.`,
    securityHeadersBehavior: {
      ...safeTransport,
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.SAME_ORIGIN, override: true },
      contentTypeOptions: { override: true },
      contentSecurityPolicy: { contentSecurityPolicy, override: true },
    },
    customHeadersBehavior: {
      customHeaders: [
        {
          header: "cross-origin-opener-policy",
          value: commonHeaders["cross-origin-opener-policy"],
          override: true,
        },
      ],
    },
  });

/** The code is a text, because the runtime of CloudFront is not Node. */
const pageRequestCode = (): string => `function handler(event) {
  var request = event.request;
  if (!${EXTENSION}.test(request.uri)) request.uri = ${JSON.stringify(CONSOLE_DOCUMENT)};
  return request;
}
`;

/** Headers of assets: browsers show them as images, and never run one as a document or script. */
export function assetBehavior(stack: Stack, assets: IBucket): BehaviorOptions {
  const { "content-security-policy": policy, "cross-origin-resource-policy": shownBy } = assetHeaders;
  return {
    // With the right to list, S3 answers 404 for a missing object. A request from outside cannot list.
    origin: S3BucketOrigin.withOriginAccessControl(assets, {
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      originAccessControl: new S3OriginAccessControl(stack, "AssetAccess", {
        originAccessControlName: globalName(stack, "assets"),
      }),
    }),
    allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    cachePolicy: new CachePolicy(stack, "AssetCache", {
      comment: "Assets: by path alone; checked again after a minute, because they may be deleted.",
      minTtl: Duration.seconds(0),
      defaultTtl: DELETED_ASSET_STAYS,
      maxTtl: DELETED_ASSET_STAYS,
    }),
    responseHeadersPolicy: new ResponseHeadersPolicy(stack, "AssetHeaders", {
      responseHeadersPolicyName: globalName(stack, "assets"),
      comment: "Assets: shown as images, never run as documents or scripts.",
      securityHeadersBehavior: {
        ...safeTransport,
        contentTypeOptions: { override: true },
        contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: "cross-origin-resource-policy", value: shownBy, override: true }],
      },
    }),
  };
}
