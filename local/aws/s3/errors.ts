// S3's errors, with the codes and statuses of the real service.
import { type AwsFailure, awsFailure } from "../stand-in.ts";

const failure =
  (code: string, status: number, message: string) =>
  (fields: Record<string, string> = {}): AwsFailure =>
    awsFailure(code, message, { status, fields });

export const noSuchBucket = failure("NoSuchBucket", 404, "The specified bucket does not exist");
export const noSuchKey = failure("NoSuchKey", 404, "The specified key does not exist.");
export const noSuchUpload = failure(
  "NoSuchUpload",
  404,
  "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
);
export const preconditionFailed = failure(
  "PreconditionFailed",
  412,
  "At least one of the pre-conditions you specified did not hold",
);
export const notModified = failure("NotModified", 304, "Not Modified");
export const invalidRange = failure("InvalidRange", 416, "The requested range is not satisfiable");
export const malformed = failure(
  "MalformedXML",
  400,
  "The XML you provided was not well-formed or did not validate against our published schema",
);
export const tooLarge = failure("EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed size");
export const tooSmall = failure("EntityTooSmall", 400, "Your proposed upload is smaller than the minimum allowed size");
export const invalidPart = failure(
  "InvalidPart",
  400,
  "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
);
export const invalidPartOrder = failure(
  "InvalidPartOrder",
  400,
  "The list of parts was not in ascending order. Parts must be ordered by part number.",
);

export const accessDenied = (message = "Access Denied"): AwsFailure =>
  awsFailure("AccessDenied", message, { status: 403 });
export const invalidArgument = (message: string): AwsFailure => awsFailure("InvalidArgument", message);
/** The error for what the stand-in does not support: it ignores nothing silently. */
export const notImplemented = (what: string): AwsFailure =>
  awsFailure("NotImplemented", `The embedded S3 does not implement ${what}.`, { status: 501 });
