import { journal } from "./001-020/001-journal.ts"
import { tasks } from "./001-020/002-tasks.ts"
import { signIn } from "./001-020/003-sign-in.ts"
import { audit } from "./001-020/004-audit.ts"
import { secretsAndUsage } from "./001-020/005-secrets-and-usage.ts"
import { deliveries } from "./001-020/006-deliveries.ts"
import { messageKeys } from "./001-020/007-message-keys.ts"
import { devices } from "./001-020/008-devices.ts"
import { appliedCallPerson } from "./001-020/009-applied-call-person.ts"
import { workspace } from "./001-020/010-workspace.ts"
import { noteVectors } from "./001-020/011-note-vectors.ts"
import { connections } from "./001-020/012-connections.ts"
import { conversationSettings } from "./041-060/042-conversation-settings.ts"
import { conversationConnection } from "./001-020/013-conversation-connection.ts"
import { queryResults } from "./001-020/014-query-results.ts"
import { statementAttempts } from "./001-020/015-statement-attempts.ts"
import { library } from "./001-020/016-library.ts"
import { nodeBeats } from "./001-020/017-node-beats.ts"
import { erasedIdentities } from "./001-020/018-erased-identities.ts"
import { tokenLineage } from "./001-020/019-token-lineage.ts"
import { seenProposals } from "./001-020/020-seen-proposals.ts"
import { deviceOwners } from "./021-040/021-device-owners.ts"
import { deaths } from "./021-040/022-deaths.ts"
import { pageSecrets } from "./021-040/023-page-secrets.ts"
import { lastConversation } from "./021-040/024-last-conversation.ts"
import { passageGrams } from "./021-040/025-passage-grams.ts"
import { days } from "./021-040/026-days.ts"
import { documentHash } from "./021-040/027-document-hash.ts"
import { embeddingClaims } from "./021-040/028-embedding-claims.ts"
import { noteClaims } from "./021-040/029-note-claims.ts"
import { tablesOfPacks } from "./021-040/030-tables-of-packs.ts"
import { news } from "./021-040/031-news.ts"
import { connectedDevices } from "./021-040/032-connected-devices.ts"
import { nodeMail } from "./021-040/033-node-mail.ts"
import { keptFiles } from "./021-040/034-kept-files.ts"
import { earmarks } from "./021-040/035-earmarks.ts"
import { buckets } from "./021-040/036-buckets.ts"
import { nodeSight } from "./021-040/037-node-sight.ts"
import { whatNeedsANewerVersion } from "./021-040/038-what-needs-a-newer-version.ts"
import { eventsKnown } from "./021-040/039-events-known.ts"
import { eventPartitions } from "./021-040/040-event-partitions.ts"
import { usageOfConversations } from "./041-060/041-usage-of-conversations.ts"
import { messageFiles } from "./041-060/043-message-files.ts"
import { filesInAFolder } from "./041-060/044-files-in-a-folder.ts"
import { mcp } from "./041-060/045-mcp.ts"
import { authorizationCodes } from "./041-060/046-authorization-codes.ts"
import { issuerIdentities } from "./041-060/047-issuer-identities.ts"
import { mcpSignIns } from "./041-060/048-mcp-sign-ins.ts"
import { sessionsOfIssuers } from "./041-060/049-sessions-of-issuers.ts"
import { runsThatGoOn } from "./041-060/050-runs-that-go-on.ts"
import { sharedRuns } from "./041-060/051-shared-runs.ts"
import { keptFolds } from "./041-060/052-kept-folds.ts"
import { lapsedProposals } from "./041-060/053-lapsed-proposals.ts"
import { doubtfulProposals } from "./041-060/054-doubtful-proposals.ts"
import { usageDays } from "./041-060/055-usage-days.ts"
import { proposalsOfPeople } from "./041-060/056-proposals-of-people.ts"
import { proposalsWithoutOwner } from "./041-060/057-proposals-without-owner.ts"
import { listedProposals } from "./041-060/058-listed-proposals.ts"
import { unseenProposals } from "./041-060/059-unseen-proposals.ts"
import { proposalsAtHand } from "./041-060/060-proposals-at-hand.ts"
import { fewerBytesOfWhatWaits } from "./061-080/061-fewer-bytes-of-what-waits.ts"
import type { Migration } from "./migration.ts"

/** The schema, step by step, in the order of the files: what is new is added at the end, and nothing is taken out. */
export const migrations: readonly Migration[] = [
  journal,
  tasks,
  signIn,
  audit,
  secretsAndUsage,
  deliveries,
  messageKeys,
  devices,
  appliedCallPerson,
  workspace,
  noteVectors,
  connections,
  conversationConnection,
  queryResults,
  statementAttempts,
  library,
  nodeBeats,
  erasedIdentities,
  tokenLineage,
  seenProposals,
  deviceOwners,
  deaths,
  pageSecrets,
  lastConversation,
  passageGrams,
  days,
  documentHash,
  embeddingClaims,
  noteClaims,
  tablesOfPacks,
  news,
  connectedDevices,
  nodeMail,
  keptFiles,
  earmarks,
  buckets,
  nodeSight,
  whatNeedsANewerVersion,
  eventsKnown,
  eventPartitions,
  usageOfConversations,
  conversationSettings,
  messageFiles,
  filesInAFolder,
  mcp,
  authorizationCodes,
  issuerIdentities,
  mcpSignIns,
  sessionsOfIssuers,
  runsThatGoOn,
  sharedRuns,
  keptFolds,
  lapsedProposals,
  doubtfulProposals,
  usageDays,
  proposalsOfPeople,
  proposalsWithoutOwner,
  listedProposals,
  unseenProposals,
  proposalsAtHand,
  fewerBytesOfWhatWaits,
]
