import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { openPageFiles, type PageFiles } from "../server/routes/pages/page-files.ts"

/** Where the built page is: in the same place of a checkout and of what is published, whichever file this code is in. */
const PAGE = join(dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname), "dist", "web")

/** The page as it was built; undefined where nobody has. */
export const openBuiltPage = (): PageFiles | undefined => openPageFiles(PAGE)
