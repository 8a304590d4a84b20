import { runTask } from '../../compute/tasks.ts';
import type { TaskInput, TaskName, Tasks } from '../../compute/tasks.ts';
import type { Failure } from '../../compute/outcome.ts';

/** Runs a task on this thread and expects figures. */
export function figures<Name extends TaskName>(name: Name, input: TaskInput<Name>): Tasks[Name]['result'] {
  const outcome = runTask(name, input, () => undefined);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.code}: ${outcome.message}`);
  return outcome;
}

/** Runs a task on this thread and expects a failure. */
export function refusal<Name extends TaskName>(name: Name, input: TaskInput<Name>): Failure {
  const outcome = runTask(name, input, () => undefined);
  if (outcome.ok) throw new Error(`${name} answered where it should have refused`);
  return outcome;
}
