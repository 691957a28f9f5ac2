// Texts of the submission form and of the check result.

import { plural } from '../format';
import type { CompetitionState, Submission } from '../types';

export const submit = {
  title: (competition: string) => `Submit a bot: ${competition}`,
  shortTitle: 'Submit a bot',
  versionTitle: (bot: string) => `New version of ${bot}`,
  to: 'to',

  notOpen: (state: CompetitionState) =>
    ({
      draft: 'This competition is not open for submissions yet.',
      open: 'This competition does not accept submissions at the moment.',
      closed: 'Submissions are closed. The competition starts soon.',
      running: 'The competition is running and does not accept submissions.',
      paused: 'The competition is running and does not accept submissions.',
      waiting: 'This competition does not accept submissions at the moment.',
      over: 'This competition is finished.',
      failed: 'The competition failed. The organisers are investigating.',
    })[state],
  notOpenHint: 'The competition page shows when submissions open.',
  toCompetition: 'Open competition',
  needsAuthor: (role: string) => `You are signed in as ${role}. Only authors can submit bots.`,
  needsAuthorHint: 'Ask an organiser for the author role.',
  noneLeft: (max: number) => `You have reached the limit of ${plural(max, 'bot')} per contributor.`,
  notYours: 'This is not one of your bots in this competition.',
  notYoursHint: 'Choose one of your bots, or submit a new one.',

  rules: 'Requirements',
  anyLanguage: 'Other languages: a folder with the built program and an `agon.toml` that contains the command to run.',
  maxSize: (size: string) => `Total size at most ${size}.`,
  perContributor: (max: number, left: number | null) =>
    left === null ? `At most ${plural(max, 'bot')} per contributor.` : `At most ${plural(max, 'bot')} per contributor; you can submit ${left === 0 ? 'no more' : `${left} more`}.`,
  fullRules: 'Rules, API and starters',

  which: 'Submission type',
  newBot: 'New bot',
  versionOf: (bot: string, version: number | null) => `New version of ${bot}${version === null ? '' : ` (now version ${version})`}`,
  versionAbout: 'The new version replaces the previous one from the start of the competition or of the next phase. If it is rejected, the previous version stays.',

  name: 'Bot name',
  nameHint: 'Shown in tables and games. Must be unique in the competition.',
  noName: 'Enter a name for the bot.',
  longName: (max: number) => `Use at most ${max} characters.`,
  role: 'Role',
  noRole: 'Choose a role.',
  className: 'Class',
  classHint: 'Required only if the file has several classes: the name of the bot’s class.',
  badClass: 'A class name can contain only letters, digits and underscores.',

  aiNote: 'Parts written by AI',
  aiHint: 'If AI tools helped directly with the solution: which parts? The bot is then marked (AI) in tables.',
  exploitNote: 'Exploit',
  exploitHint: 'If the bot uses a weakness of the game’s program: which one? The bot is then marked (exploit) in tables.',

  files: 'Files',
  drop: 'Drop a file, a folder or a zip here',
  dropNow: 'Release to add the files',
  chooseFiles: 'Choose files or a zip',
  chooseFolder: 'Choose a folder',
  chosen: (count: number, size: string) => `${plural(count, 'file')}, ${size} in total`,
  caption: 'Files to submit',
  path: 'File',
  size: 'Size',
  remove: 'Remove',
  removeLabel: (path: string) => `Remove ${path}`,
  clear: 'Choose other files',
  ignored: (count: number) => `${plural(count, 'file')} ignored:`,
  showAll: (count: number) => `Show all ${count}`,
  removed: (path: string) => `${path} removed.`,
  reading: 'Reading the folder …',
  noFiles: 'Choose the files of the bot first.',
  unreadable: (path: string) => `${path} could not be read. If it was moved or changed, choose it again.`,
  emptyFolder: 'The folder has no files.',
  tooLarge: (size: string, max: string) => `Total size ${size} exceeds the limit of ${max}. Remove files that the bot does not need.`,
  tooMany: (count: number, max: number) => `${count} files exceed the limit of ${max}. Remove files that the bot does not need, such as tests and virtual environments.`,
  zipAlone: (path: string) => `${path} is a zip and must be submitted alone. Remove it or all other files.`,
  emptyFile: (path: string) => `${path} is empty.`,
  duplicate: (one: string, other: string) => `${one} and ${other} are the same file on some systems. Rename one of them.`,
  longPath: (path: string) => `${path}: the path is too long. Shorten it.`,

  send: 'Submit',
  sending: (percent: number) => `Uploading: ${percent} %`,
  sent: 'Uploaded. Waiting for the server …',
  cancel: 'Cancel upload',
  cancelled: 'Upload cancelled. If it reached the server, it is listed in your account.',
  offline: 'Upload failed: connection lost.',
  offlineHint: 'Your input is kept. Try again.',

  commandLine: 'Command line',
  commandLineAbout: 'With one of your tokens in the environment:',
  createToken: 'Create token',

  check: {
    title: (name: string) => `Check of ${name}`,
    of: (competition: string) => `Submitted to ${competition}`,
    state: (state: Submission['state']) =>
      ({
        queued: 'Waiting for its check',
        checking: 'Being checked',
        accepted: 'Accepted',
        refused: 'Rejected',
        broke: 'Check failed (server error)',
      })[state],
    queued: (before: number) => (before === 0 ? 'Next in the queue.' : `${plural(before, 'bot')} ahead in the queue.`),
    queuedAbout: 'This page updates automatically. You can leave it; the result is also listed in your account.',
    checking: 'The bot is inspected, started, and plays a trial game in the sandbox. This takes a few seconds.',
    accepted: (version: number | null) => (version === null ? 'The bot takes part.' : `The bot takes part as version ${version}.`),
    refused: (count: number) => (count === 0 ? 'The bot was not accepted.' : `${plural(count, 'problem')} to fix.`),
    broke: 'This is a server problem, not a problem of your bot. The organisers can see the error. Submit the bot again later.',
    connection: 'No response from the server. Retrying …',
    notAllowed: 'Only the author and the organisers can see this check.',
    facts: { file: 'File', size: 'Size', by: 'Author', at: 'Submitted', took: 'Time to result', version: 'Version', hash: 'SHA-256 of the bot’s files' },
    steps: 'Steps',
    step: (name: string) => ({ found: 'Detection', source: 'Source', loads: 'Start', plays: 'Trial game' })[name] ?? name,
    stepAbout: (name: string) =>
      ({
        found: 'Find the bot in the submitted files.',
        source: 'Look for forbidden constructs in the source.',
        loads: 'Start the bot.',
        plays: 'Play games against house bots, up to the full length.',
      })[name] ?? '',
    /** What a step has found, so that no `yes` or `no` needs a question. */
    outcomeOf: (name: string, outcome: 'yes' | 'no' | 'skipped') =>
      outcome === 'skipped'
        ? 'skipped'
        : (({ found: ['a bot was found', 'no bot was found'], source: ['nothing forbidden was found', 'something forbidden was found'], loads: ['the bot starts', 'the bot does not start'], plays: ['the bot plays by the rules', 'the bot has failed'] } as { [step: string]: [string, string] })[name] ?? ['passed', 'failed'])[outcome === 'yes' ? 0 : 1],
    mustFix: 'Must fix',
    advice: 'Advice',
    warnings: 'Warnings',
    whole: 'Whole bot',
    place: (file: string | null, line: number | null) =>
      file === null ? (line === null ? '' : `line ${line}`) : line === null ? file : `${file}, line ${line}`,
    hint: 'Hint:',
    output: 'Bot output',
    trials: 'Trial game',
    trial: (n: number) => `Trial game ${n}`,
    trialAbout: 'Step through the moves of your bot. Its output is shown beside each turn.',
    watch: 'Show trial game',
    next: 'Next steps',
    toBot: 'Open bot page',
    toCompetition: 'Open competition',
    submitFixed: 'Submit a fixed version',
    submitNewVersion: 'Submit a new version',
    submitAgain: 'Submit again',
    toMe: 'All my bots',
    runLocally: 'Run the same check on your machine:',
    nextAccepted: 'No action required: the bot plays when the competition runs. You can submit new versions while submissions are open.',
    nextRefused: 'Fix the problems above and submit again. The previous version, if any, stays in the competition.',
    nextBroke: 'Submit the bot again later.',
    seconds: (ms: number) => (ms < 950 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`),
  },
};

/** Deadline for submissions. */
export const deadlineTexts = {
  until: 'Submissions until',
  past: 'Submissions ended',
  left: (time: string) => `${time} left`,
};
