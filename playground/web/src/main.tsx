import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { restWhileHidden } from './client/connection.ts';
import { followHistory } from './navigation/routes.ts';
import { followTheme } from './theme/theme.ts';
import './theme.css';

followTheme();
followHistory();
void restWhileHidden();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
