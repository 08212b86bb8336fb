import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { closeWhileHidden } from './client/connection.ts';
import { followHistory } from './navigation/routes.ts';
import { followTheme } from './theme/theme.ts';
import './theme.css';

followTheme();
followHistory();
void closeWhileHidden();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
