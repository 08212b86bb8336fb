import { useConnection } from './connection.ts';

/** A calm line while the server is away; what was there stays readable. */
export function ConnectionBanner() {
  const isLost = useConnection() === 'lost';
  return (
    <div role="status">
      {isLost && (
        <p className="connection-banner">
          The playground does not answer. Is it still running in its terminal? Trying again …
        </p>
      )}
    </div>
  );
}
