import { type Fields, isRecord, labelOf } from "../changes/display-value.ts"

export type Control = "choice" | "check" | "number" | "date" | "line" | "text" | "list" | "json"

/** One argument of a tool in a form. */
export interface EditField {
  readonly name: string
  readonly label: string
  readonly hint: string | undefined
  readonly control: Control
  readonly choices: readonly string[]
  readonly isRequired: boolean
}

/** A text of this length gets a multi-line field. */
const LONG_TEXT = 60
/** A higher limit than that of a path means free text. */
const LONG_LIMIT = 4096

/** The arguments that a tool accepts: the given ones first, in their order. Without a schema, only those. */
export function fieldsOf(schema: unknown, given: Fields): EditField[] {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {}
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : []
  const names = [...new Set([...Object.keys(given), ...Object.keys(properties)])]
  return names.map((name) => {
    const shapes = shapesOf(properties[name])
    const choices = shapes.flatMap(({ enum: values }) => (Array.isArray(values) ? values.map(String) : []))
    const described = [properties[name], ...shapes].find((shape) => isRecord(shape) && shape.description)
    return {
      name,
      label: labelOf(name.replace(/^is_/, "").replace(/(?<=.)_id$/, "")),
      hint: isRecord(described) ? String(described.description) : undefined,
      control: controlOf(name, { shapes, choices, value: given[name] }),
      choices,
      isRequired: required.includes(name),
    }
  })
}

/** The alternatives of a value, without `null`. */
function shapesOf(schema: unknown): Fields[] {
  if (!isRecord(schema)) return []
  const several = schema.anyOf ?? schema.oneOf
  if (Array.isArray(several)) return several.flatMap(shapesOf)
  if (Array.isArray(schema.type)) return schema.type.flatMap((type) => shapesOf({ ...schema, type }))
  return schema.type === "null" ? [] : [schema]
}

interface Known {
  readonly shapes: readonly Fields[]
  readonly choices: readonly string[]
  readonly value: unknown
}

function controlOf(name: string, { shapes, choices, value }: Known): Control {
  if (choices.length > 0) return "choice"
  const types = shapes.map(({ type }) => type)
  const is = (type: string, typed: boolean) => (types.length > 0 ? types.includes(type) : typed)
  if (is("boolean", typeof value === "boolean")) return "check"
  const isText = is("string", typeof value === "string")
  if (isText && (/(^|_)date$/i.test(name) || shapes.some(({ format }) => /^date/.test(String(format))))) return "date"
  if (isText) return isLong(shapes, value) ? "text" : "line"
  if (is("number", typeof value === "number") || types.includes("integer")) return "number"
  const items = shapes.find(({ type }) => type === "array")?.items
  const isList = isRecord(items) ? items.type === "string" : Array.isArray(value) && value.every(isString)
  return isList ? "list" : "json"
}

const isString = (value: unknown): boolean => typeof value === "string"

function isLong(shapes: readonly Fields[], value: unknown): boolean {
  if (typeof value === "string" && (value.length > LONG_TEXT || value.includes("\n"))) return true
  return shapes.some(({ maxLength }) => typeof maxLength === "number" && maxLength > LONG_LIMIT)
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/**
 * The value of a date input: `2027-01-31`, or `2027-01-31T17:00`. `shown`: the diff's value, for a date that was given
 * in words. Undefined if an input cannot show it.
 */
export function toDateInput(given: unknown, shown: unknown): string | undefined {
  for (const value of [given, shown]) {
    if (value === undefined || value === null || value === "") continue
    const text = String(value)
    const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?/.exec(text)
    if (iso) return iso[0]
    const [, day = "", month = "", year = ""] = /(\d{1,2}) ([A-Z][a-z]+) (\d{4})/.exec(text) ?? []
    const place = MONTHS.indexOf(month.slice(0, 3))
    const time = /\bat (\d{2}:\d{2})/.exec(text)?.[1]
    if (place >= 0) {
      const date = `${year}-${String(place + 1).padStart(2, "0")}-${day.padStart(2, "0")}`
      return time ? `${date}T${time}` : date
    }
  }
  return given === undefined || given === null || given === "" ? "" : undefined
}
