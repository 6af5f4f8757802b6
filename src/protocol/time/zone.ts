import { z } from "zod"
import { isTimeZone } from "./is-zone.ts"

/** Where a person is, as far as clocks go: `Europe/Berlin`. */
export const TimeZone = z.custom<string>(isTimeZone, "expected an IANA time zone such as Europe/Berlin")
