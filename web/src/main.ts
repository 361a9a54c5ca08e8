import { mount } from 'svelte';
import 'uplot/dist/uPlot.min.css';
import App from './App.svelte';
import './app.css';

const target = document.getElementById('app');
if (target) mount(App, { target });
