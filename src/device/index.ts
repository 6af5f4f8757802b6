/** A program that carries out what Pawl asks for on the person's own machine: their workspace in a file, and tools. */
export type { CallOutcome } from "../protocol/socket.ts"
export type { Closed, DeviceSocket } from "./connection.ts"
export { type Device, type DeviceOptions, openDevice } from "./device.ts"
export { LEDGER_DAYS } from "./ledger.ts"
export type { Handler, HandlerAnswer, Handlers } from "./local-calls.ts"
export type { LocalTables, Row, LocalRows } from "./local-tables.ts"
export type { VectorMatch, LocalVectors } from "./local-vectors.ts"
export type { DeviceState, ConnectOptions } from "./stay-connected.ts"
