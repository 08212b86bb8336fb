import {
  Cluster,
  type ClusterNode,
  type ClusterOptions,
  type Command,
  Redis,
  type RedisOptions,
} from 'ioredis';
import { RedisUnreachableError, reasonOf } from '../errors.ts';

export interface Guard {
  /** The address without credentials. */
  readonly label: string;
  /** The time limit of a command, with its retries. */
  readonly patienceMs: number;
  /** The reason of the last connection failure. */
  lastReason: string | undefined;
}

// The shape of replies is a type parameter of ioredis and stays what our code reads.
type SingleOptions = Omit<RedisOptions, 'replyMapping'>;
type ManyOptions = Omit<ClusterOptions, 'redisOptions'> & {
  readonly redisOptions: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>;
};
type SendToRedis = Parameters<Redis['sendCommand']>;
type SendToCluster = Parameters<Cluster['sendCommand']>;

/** A connection on which every command ends in time, and no error holds credentials or arguments. */
export class GuardedRedis extends Redis {
  readonly #guard: Guard;
  readonly #guarded = new WeakSet<Command>();

  constructor(options: SingleOptions, guard: Guard) {
    super(options);
    this.#guard = guard;
  }

  override sendCommand(...[command, ...rest]: SendToRedis): unknown {
    guardCommand(command, this.#guarded, this.#guard);
    this.#joinWrites();
    return super.sendCommand(command, ...rest);
  }

  /** Lets all commands of this tick leave in one write; their order and their replies stay the same. */
  #joinWrites(): void {
    const { stream } = this;
    if (stream === undefined || stream.writableCorked > 0) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}

/** The same for a cluster, whose own queue would keep a command for as long as no node answers. */
export class GuardedCluster extends Cluster {
  readonly #guard: Guard;
  readonly #guarded = new WeakSet<Command>();

  constructor(nodes: ClusterNode[], options: ManyOptions, guard: Guard) {
    super(nodes, options);
    this.#guard = guard;
  }

  override sendCommand(...[command, ...rest]: SendToCluster): unknown {
    guardCommand(command, this.#guarded, this.#guard);
    return super.sendCommand(command, ...rest);
  }
}

// A command that is sent again keeps its guard and its time.
function guardCommand(command: Command, guarded: WeakSet<Command>, guard: Guard): void {
  // ioredis reads the errors of its own greeting to learn which protocol a server speaks.
  if (guarded.has(command) || isGreeting(command.name)) return;
  guarded.add(command);
  const { reject } = command;
  command.reject = (error) => reject.call(command, plainError(error, guard));
  command.setTimeout(guard.patienceMs);
}

function plainError(error: Error, { label, lastReason }: Guard): Error {
  const reason = reasonOf(error);
  if (error.name !== 'ReplyError') return new RedisUnreachableError(label, lastReason ?? reason);
  // A greeting that fails ends what waits behind it, and a server may repeat the password in it.
  if (isGreeting(commandBehind(error)) || reason === 'NOAUTH')
    return new RedisUnreachableError(label, reason);
  Reflect.deleteProperty(error, 'command');
  return error;
}

function isGreeting(command: unknown): boolean {
  return command === 'hello' || command === 'auth';
}

function commandBehind(error: Error): unknown {
  const sent = 'command' in error ? error.command : undefined;
  return typeof sent === 'object' && sent !== null && 'name' in sent ? sent.name : undefined;
}
