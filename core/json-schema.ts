/** For JSON Schemas of strangers: they are read with bounds, and never compiled to code. */
export { compilePatterns } from "./tools/json-schema/check.ts"
export { checkValue } from "./tools/json-schema/check-value.ts"
export { type ParsedSchema as ReadSchema, readJsonSchema } from "./tools/json-schema/read-schema.ts"
