/** TypeScript client for Gamekeeper. docs/client-typescript.md of the server is the guide. */

export type { WriteOptions } from "./call.js";
export { Client } from "./client.js";
export type { ConnectionOptions, Credentials, LogInOptions, Options, Patience } from "./connection.js";
export type { FollowOptions } from "./feed.js";
export { parseJson, stringifyJson, type Json } from "./json.js";
export type * from "./operations.js";
export * as errors from "./refusals.js";
export type * from "./shapes.js";
