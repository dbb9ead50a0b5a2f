// The refusals DynamoDB answers with, by name.
import { type AwsFailure, awsFailure } from "../stand-in.ts";
import type { Item } from "./values.ts";

export const validation = (message: string): AwsFailure => awsFailure("ValidationException", message);

export const invalidParameter = (message: string): AwsFailure =>
  validation(`One or more parameter values were invalid: ${message}`);

export const serialization = (message: string): AwsFailure => awsFailure("SerializationException", message);

/** An item operation names a table that does not exist. */
export const noSuchResource = (): AwsFailure =>
  awsFailure("ResourceNotFoundException", "Requested resource not found");

/** A table operation names a table that does not exist. */
export const noSuchTable = (name: string): AwsFailure =>
  awsFailure("ResourceNotFoundException", `Requested resource not found: Table: ${name} not found`);

export const resourceInUse = (message: string): AwsFailure => awsFailure("ResourceInUseException", message);

export const conditionFailed = (item?: Item): AwsFailure =>
  awsFailure("ConditionalCheckFailedException", "The conditional request failed", {
    fields: item ? { Item: item } : {},
  });
