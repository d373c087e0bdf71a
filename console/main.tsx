import { render } from 'preact';
import { App } from './app.tsx';
import { startClock } from './state/clock.ts';
import { keepConnected } from './state/connection.ts';
import { keepFresh } from './state/resource.ts';
import { followHash } from './state/route.ts';

startClock();
followHash();
keepFresh();
const root = document.getElementById('app');
if (root) render(<App />, root);
keepConnected();
