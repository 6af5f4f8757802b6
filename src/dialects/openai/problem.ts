import { failure } from "../../protocol/errors.ts"

export const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
