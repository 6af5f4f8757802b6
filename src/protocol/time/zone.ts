import { z } from "zod"
import { isTimeZone } from "./is-zone.ts"
import { lazily } from "../lazily.ts"

/** Where a person is, as far as clocks go: `Europe/Berlin`. */
export const TimeZone = lazily(() => z.custom<string>(isTimeZone, "expected an IANA time zone such as Europe/Berlin"))
