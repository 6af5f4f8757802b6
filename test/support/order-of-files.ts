import { BaseSequencer, type TestSpecification } from "vitest/node"
import { spread } from "./spread.ts"

/** A worker has the modules of one project, and is ended where the next file is of another: so each project once. */
const projects = ["fresh", "web", "slow", "unit"]

/**
 * In which order files run: of a project the largest first, as vitest has them, which without a last run knows only sizes;
 * where a run has slow and quick files in one project, spread. The page comes before, because its files are long: whatever
 * is last has to be short.
 */
export class OrderOfFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const names = new Set([...projects, ...sorted.map(({ project }) => project.name)])
    return [...names].flatMap((name) => spread(sorted.filter(({ project }) => project.name === name)))
  }
}
