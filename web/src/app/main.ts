// Entry point of the web app of `agon serve`.

import { mount } from 'svelte';
import './app.css';
import App from './App.svelte';
import { router } from './router.svelte';
import { theme } from './theme.svelte';

theme.start();
router.start();
const target = document.getElementById('app');
if (target) mount(App, { target });
