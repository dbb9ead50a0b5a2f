// DynamoDB's errors, by name.
import { type AwsFailure, awsFailure, type Wire } from "../stand-in.ts";

export const validation = (message: string): AwsFailure => awsFailure("ValidationException", message);

export const invalidParameter = (message: string): AwsFailure =>
  validation(`One or more parameter values were invalid: ${message}`);

/** An error that operations of the older validation layer word differently. */
export const reworded = (message: string, older: string): AwsFailure => Object.assign(validation(message), { older });

/** An error that `enveloped` does not change. */
export const unenveloped = (message: string): AwsFailure => Object.assign(validation(message), { bare: true });

/** Gives errors the text of the older validation layer, which batch writes, transactions and scans still run. */
export function inOlderWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Error && "older" in error ? validation(String(error.older)) : error;
  }
}

/** Wraps the errors of a request as writes of single items report them. */
export function enveloped<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ValidationException" || "bare" in error) throw error;
    throw validation(`1 validation error detected: ${error.message}`);
  }
}

export const serialization = (message: string): AwsFailure => awsFailure("SerializationException", message);

/** An item operation names a table that does not exist. */
export const noSuchResource = (): AwsFailure => awsFailure("ResourceNotFoundException", "Requested resource not found");

/** A table operation names a table that does not exist. */
export const noSuchTable = (name: string): AwsFailure =>
  awsFailure("ResourceNotFoundException", `Requested resource not found: Table: ${name} not found`);

export const resourceInUse = (message: string): AwsFailure => awsFailure("ResourceInUseException", message);

export const conditionFailed = (item?: Wire): AwsFailure =>
  awsFailure("ConditionalCheckFailedException", "The conditional request failed", {
    fields: item ? { Item: item } : {},
  });
